package openstack

import (
	"context"
	"net/url"
	"strings"
)

// ImageActive is the status of an image from which servers can be created.
const ImageActive = "active"

// Image is a Glance image.
type Image struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Status string `json:"status"`
}

// ImageFilter selects images; all given criteria must match.
type ImageFilter struct{ Name string }

func (s *Session) images() resource[Image] {
	return resource[Image]{session: s, service: imageService, path: "images", singular: "image", plural: "images"}
}

// ListImages returns the images that match the filter, of those that the cloud lists for the session's project by default: its own,
// the public ones and those shared with it. Names need not be unique.
func (s *Session) ListImages(ctx context.Context, filter ImageFilter) ([]Image, error) {
	return s.images().list(ctx, filter)
}

// query adds the operator "in" or "eq" to a name with a colon: Glance interprets text before a colon as the name of an operator.
func (f ImageFilter) query() url.Values {
	q := query{}
	if strings.Contains(f.Name, ":") {
		q.text("name", "eq:"+f.Name)
	} else {
		q.text("name", f.Name)
	}
	return url.Values(q)
}

func (f ImageFilter) matches(i Image) bool { return emptyOrEqual(f.Name, i.Name) }
