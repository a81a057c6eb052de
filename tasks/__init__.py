"""The task suites that come with cobench, one folder of YAML files for each world.

`parks/` holds hand-written tasks on the bundled world `parks`. A file is called by its id, `parks-LEVEL-NUMBER-what`:
level 1 books a hotel, level 2 a hotel and flights, level 3 a permit as well. Each is solvable, or unsolvable as it
says, on the mini and on the full world; optimum and count may differ between the two.
"""
