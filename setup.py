"""Build of the ROS 2 package; its version is the one in package.xml."""

from glob import glob
from pathlib import Path
from xml.etree import ElementTree

from setuptools import find_packages, setup

NAME = 'jaguar_sensors_ros'
ROOT = Path(__file__).resolve().parent

VERSION = ElementTree.parse(str(ROOT / 'package.xml')).findtext('version')

EXTRAS = {
    'plot': ['matplotlib'],
    'bags': ['rosbags'],
    'cli': ['argcomplete', 'rich'],
    'fast': ['numba'],
    'mag': ['pygeomag'],
}
EXTRAS['all'] = sorted({name for names in EXTRAS.values() for name in names})


def data_files(folder: str, pattern: str) -> tuple:
    """Return the data_files entry of one folder; colcon needs relative paths."""
    files = sorted(path for path in glob(f'{folder}/{pattern}') if Path(path).is_file())
    return f'share/{NAME}/{folder}', files


setup(
    name=NAME,
    version=VERSION,
    description='Simulated IMU and GPS for ROS 2',
    maintainer='Jaguar Sensors maintainers',
    maintainer_email='maintainers@jaguar-sensors.org',
    license='Apache-2.0',
    packages=find_packages(include=[NAME, f'{NAME}.*']),
    package_data={NAME: ['py.typed', 'messages/interfaces/*.msg']},
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{NAME}']),
        (f'share/{NAME}', ['package.xml']),
        data_files('launch', '*.launch.py'),
        data_files('config', '*'),
    ],
    python_requires='>=3.10',
    install_requires=['setuptools', 'numpy', 'transforms3d', 'PyYAML'],
    extras_require=EXTRAS,
    tests_require=['pytest'],
    zip_safe=False,
    entry_points={
        'console_scripts': [
            f'imu_node = {NAME}.ros.main:imu_node',
            f'gps_node = {NAME}.ros.main:gps_node',
            f'mag_node = {NAME}.ros.main:mag_node',
            f'baro_node = {NAME}.ros.main:baro_node',
            f'truth_node = {NAME}.ros.main:truth_node',
            f'scenario_node = {NAME}.ros.main:scenario_node',
            f'sensor_suite = {NAME}.ros.main:sensor_suite',
            f'jaguar_sensors = {NAME}.cli.main:main',
        ],
    },
)
