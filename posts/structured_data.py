"""What search engines and other sites are told of a post."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext as _

from catalogue.share_images import ShareImage, find_share_image
from catalogue.templatetags.pictures import public_picture_url
from posts.entities import Post
from posts.people import Person
from posts.shop_products import ShopProduct
from posts.templatetags.posts import alt_of
from storefront.structured_data import absolute_url, json_ld_script


@dataclass(frozen=True)
class PostHead:
    """The data of a post for `storefront/_share.html`, and as JSON-LD."""

    post: Post
    person: Person
    products: Sequence[ShopProduct]
    kind = "article"

    def title(self) -> str:
        return _("A post by %(name)s") % {"name": self.person.name}

    def description(self) -> str:
        return Truncator(" ".join(self.post.body.split())).chars(160)

    def canonical(self) -> str:
        return absolute_url(reverse("posts:post", args=(self.post.post_id,)))

    def share_image(self) -> ShareImage:
        return find_share_image(self.post.pictures[0])

    def alt(self) -> str:
        return alt_of(self.post, self.post.pictures[0])

    def json_ld(self) -> SafeString:
        post, sums = self.post, self.post.sums
        return json_ld_script(
            {
                "@type": "SocialMediaPosting",
                "@id": self.canonical(),
                "url": self.canonical(),
                "headline": Truncator(self.description()).chars(110),
                "articleBody": post.body,
                "author": self._author(),
                "datePublished": (post.published_at or post.written_at).isoformat(),
                "dateModified": post.edited_at.isoformat() if post.edited_at else "",
                "image": [public_picture_url(each) for each in post.pictures],
                "keywords": list(post.tags),
                "commentCount": sums.comment_count,
                "interactionStatistic": {
                    "@type": "InteractionCounter",
                    "interactionType": "https://schema.org/LikeAction",
                    "userInteractionCount": sums.like_count,
                },
                "mentions": [
                    {"@type": "Thing", "name": each.product.name, "url": absolute_url(each.url)}
                    for each in self.products
                    if each.is_sold
                ],
            }
        )

    def _author(self) -> dict[str, Any]:
        url = absolute_url(self.person.url) if self.person.url else ""
        return {"@type": "Person", "name": self.person.name, "url": url}
