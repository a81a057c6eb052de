"""The version that certificates name; setup.cfg reads it from here."""

VERSION = "0.1.0"
