"""The maker of the COMPASS suite: tasks over the parks world, each certified before it is let in.

`slots` says what each task is to be like, `drafting` draws candidates, `accepting` judges and certifies them, `making`
writes the suite, `quality` counts what is in it and what was turned away.
"""
