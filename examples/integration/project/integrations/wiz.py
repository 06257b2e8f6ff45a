"""Assets from Wiz. New integrations follow its pattern."""

from integrations.base import Asset, Integration


class Wiz(Integration):
    """Lists the resources of a Wiz tenant."""

    def validate_credentials(self):
        """Asks for the tenant: an answer means that the secret is good."""
        return "tenant" in self.fetch("/auth", {"token": self.secret})

    def discover(self):
        """Reads page after page until as many have come as the vendor announced."""
        page, seen = 1, 0
        while True:
            answer = self.fetch("/resources", {"page": page})
            for resource in answer["resources"]:
                seen += 1
                yield Asset(resource["address"], "wiz")
            if seen >= answer["total"] or not answer["resources"]:
                return
            page += 1

    def check_affiliation(self, asset):
        """Asks for the one resource again."""
        return self.fetch("/resource", {"address": asset.address}).get("active", False)
