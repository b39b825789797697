package openstack

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"github.com/trellis-garden/trellis/internal/cloud/transport"
)

// The limits of one list over all its pages. The largest lists are those of the ports in the network of a shoot with
// some thousand nodes.
const (
	maxPages     = 200
	maxObjects   = 20_000
	maxListBytes = 32 << 20
	maxLink      = 32 << 10
)

// listing collects the matching objects of a list, page by page and object by object. It fails with a transport.InvalidResponseError
// if the list exceeds the limits or has a cycle: an incomplete list must not be used.
type listing[T any] struct {
	plural      string // the JSON key around the objects of a page
	matches     func(T) bool
	decodedSize func(T) int // see resource

	found   []T
	objects int // number of objects so far
	bytes   int64
	markers map[string]bool // of the pages requested so far

	page pageRead
}

// pageRead describes the last page.
type pageRead struct {
	listed  bool
	objects int
	links   map[string]json.RawMessage // values that may contain the link to the next page
}

// decodeFrom implements streamed.
func (l *listing[T]) decodeFrom(decoder *json.Decoder) error {
	l.page = pageRead{links: map[string]json.RawMessage{}}
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return errors.Join(errors.New("the page is not a JSON object"), err)
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return err
		}
		if err := l.decodeAttribute(decoder, key); err != nil {
			return err
		}
	}
	if _, err := decoder.Token(); err != nil {
		return err
	}
	if !l.page.listed {
		return fmt.Errorf("the answer lacks %q", l.plural)
	}
	if l.decodedSize == nil {
		l.bytes += decoder.InputOffset()
	}
	if l.bytes > maxListBytes {
		return transport.InvalidResponse("the list is longer than %d bytes", maxListBytes)
	}
	return nil
}

func (l *listing[T]) decodeAttribute(decoder *json.Decoder, key json.Token) error {
	switch key {
	case l.plural:
		return l.decodeObjects(decoder)
	case "next", l.plural + "_links":
		var link json.RawMessage
		err := decoder.Decode(&link)
		l.page.links[fmt.Sprint(key)] = link
		return err
	default:
		return decoder.Decode(new(ignored))
	}
}

// ignored is a JSON value that is skipped.
type ignored struct{}

// UnmarshalJSON implements json.Unmarshaler.
func (*ignored) UnmarshalJSON([]byte) error { return nil }

func (l *listing[T]) decodeObjects(decoder *json.Decoder) error {
	l.page.listed = true
	start, err := decoder.Token()
	if err != nil || start == nil {
		return err
	}
	if start != json.Delim('[') {
		return fmt.Errorf("%q is not a list", l.plural)
	}
	for decoder.More() {
		if l.objects++; l.objects > maxObjects {
			return transport.InvalidResponse("the list has more than %d objects", maxObjects)
		}
		l.page.objects++
		var object T
		if err := decoder.Decode(&object); err != nil {
			return fmt.Errorf("decoding %q: %w", l.plural, err)
		}
		if l.matches(object) {
			l.found = append(l.found, object)
			if l.decodedSize != nil {
				l.bytes += int64(l.decodedSize(object))
			}
		}
	}
	_, err = decoder.Token()
	return err
}

// next returns the query of the page after the last one, or nil if there is none. A page with a link to itself is the last.
func (l *listing[T]) next(asked, current url.Values) (url.Values, error) {
	link := nextLink(l.page.links, l.plural)
	if len(link) > maxLink {
		return nil, transport.InvalidResponse("its link to the next page is longer than %d bytes", maxLink)
	}
	query := nextQuery(link, asked)
	if query == nil || l.page.objects == 0 || markerOf(query) == markerOf(current) {
		return nil, nil
	}
	if l.markers == nil {
		l.markers = map[string]bool{markerOf(asked): true}
	}
	switch marker := markerOf(query); {
	case l.markers[marker]:
		return nil, transport.InvalidResponse("the list leads back to a page that was read before")
	case len(l.markers) >= maxPages:
		return nil, transport.InvalidResponse("the list has more than %d pages", maxPages)
	default:
		l.markers[marker] = true
		return query, nil
	}
}

// markerOf returns the part of a query that identifies a page of its list: the marker.
func markerOf(query url.Values) string {
	if marker := query.Get("marker"); marker != "" {
		return marker
	}
	return "?" + query.Encode()
}
