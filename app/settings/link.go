package settings

import (
	"fmt"
	"net/url"
	"strings"

	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
)

// maxShown is the largest number of characters of an unknown link's page that a message shows.
const maxShown = 40

// ParseLink returns the page that a link such as fairlead://settings/models names, or an empty name
// for the list of pages. Links only show something: whatever else they contain is ignored.
func ParseLink(link string) (page string, isLink bool) {
	u, err := url.Parse(strings.TrimSpace(link))
	if err != nil || u.Scheme != "fairlead" || !strings.EqualFold(u.Host, "settings") {
		return "", false
	}
	return strings.ToLower(strings.Trim(u.Path, "/")), true
}

// openLink obeys a fairlead:// link: it shows a page of the settings, or a pairing invitation for the
// person to accept. For an unknown page it says so and shows the list.
func (p *Page) openLink(link string) {
	page, isPage := ParseLink(link)
	if !isPage {
		p.invite(link)
		return
	}
	for _, e := range p.entries {
		if wording.Slug(e.Title, "") == page {
			p.Open(e.Title)
			return
		}
	}
	p.openList()
	if page != "" {
		name, _ := wording.Reveal(format.Clip(page, maxShown))
		p.e.Say(fmt.Sprintf("The settings have no page “%s”. Here are all of them.", name))
	}
}
