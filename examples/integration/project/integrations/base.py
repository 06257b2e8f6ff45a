"""What every integration has in common."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Asset:
    """Something of the customer that can be attacked."""

    address: str
    source: str


class Integration:
    """Reaches one vendor through `fetch`, a function from a path and its parameters to an answer."""

    def __init__(self, fetch, secret):
        self.fetch = fetch
        self.secret = secret

    def validate_credentials(self):
        """Says whether the vendor accepts the secret."""
        raise NotImplementedError

    def discover(self):
        """Yields every asset that the vendor knows."""
        raise NotImplementedError

    def check_affiliation(self, asset):
        """Says whether an asset still belongs to the customer."""
        raise NotImplementedError
