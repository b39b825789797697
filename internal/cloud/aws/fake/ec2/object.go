package ec2

import (
	"maps"
	"slices"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// object is a resource with an ID and tags.
type object interface{ common() *meta }

// meta is what all resources have.
type meta struct {
	id       string
	sequence int // in the order of creation
	tags     map[string]string

	// What delayed consistency hides: the number of reads that miss the resource, and of lists that filter by tags and see the former ones.
	missingReads, tagReads int
	formerTags             map[string]string
	visible, tagsVisible   time.Time
}

func (m *meta) common() *meta { return m }

// setTags replaces the tags. For a number of lists or a time, filters see the former ones.
func (m *meta) setTags(tags map[string]string, lag core.Lag) {
	now := time.Now()
	if m.tagReads == 0 && !now.Before(m.tagsVisible) {
		m.formerTags = m.tags
	}
	m.tags, m.tagReads, m.tagsVisible = tags, lag.TagReads, now.Add(lag.TagsFor)
}

// tagsForFilter returns the tags as filters see them now, and counts the read.
func (m *meta) tagsForFilter(q *core.Request) map[string]string {
	if m.tagReads > 0 && !q.Operator {
		m.tagReads--
		return m.formerTags
	}
	if !q.Operator && time.Now().Before(m.tagsVisible) {
		return m.formerTags
	}
	return m.tags
}

// isMissing reports whether the resource is not visible yet, and counts the read.
func (m *meta) isMissing(q *core.Request) bool {
	if m.missingReads > 0 && !q.Operator {
		m.missingReads--
		return true
	}
	return m.isHidden(q)
}

// isHidden reports whether nobody but the operator sees the resource yet.
func (m *meta) isHidden(q *core.Request) bool {
	return !q.Operator && time.Now().Before(m.visible)
}

// tagList returns the tags as responses have them.
func (m *meta) tagList() []any {
	out := []any{}
	for _, key := range slices.Sorted(maps.Keys(m.tags)) {
		out = append(out, protocol.Struct{"Key": key, "Value": m.tags[key]})
	}
	return out
}

// collection is all resources of a kind.
type collection[T object] struct {
	items []T
	// kind is the name of the kind in tags.
	kind     string
	notFound func(id string) *wire.Error
	// ids and answer are the members of the describing action's input and output.
	ids, answer string
	filters     map[string]func(T) []string
	view        func(T) protocol.Struct
}

func (c *collection[T]) find(id string) (T, bool) {
	for _, item := range c.items {
		if item.common().id == id {
			return item, true
		}
	}
	var none T
	return none, false
}

// get returns a resource, or the kind's error.
func (c *collection[T]) get(id string) (T, error) {
	item, found := c.find(id)
	if !found {
		return item, c.notFound(id)
	}
	return item, nil
}

func (c *collection[T]) add(item T) { c.items = append(c.items, item) }

func (c *collection[T]) remove(id string) {
	c.items = slices.DeleteFunc(c.items, func(item T) bool { return item.common().id == id })
}

// where returns the resources that match.
func (c *collection[T]) where(match func(T) bool) []T {
	var out []T
	for _, item := range c.items {
		if match(item) {
			out = append(out, item)
		}
	}
	return out
}

// tagged are the resources of a kind, for actions on resources of any kind.
type tagged struct {
	kind     string
	all      func() []*meta
	notFound func(id string) *wire.Error
}

func taggedIn[T object](c *collection[T]) tagged {
	return tagged{kind: c.kind, notFound: c.notFound, all: func() []*meta {
		var out []*meta
		for _, item := range c.items {
			out = append(out, item.common())
		}
		return out
	}}
}

// idsOf lists the IDs of resources.
func idsOf[T object](items []T) []string {
	var out []string
	for _, item := range items {
		out = append(out, item.common().id)
	}
	return out
}
