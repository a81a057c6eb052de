"""The source of chance under the name that conversations and agents know it by: see schemas/chance.py."""

from ..schemas.chance import drawn

__all__ = ["drawn"]
