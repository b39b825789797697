package fake

import (
	"encoding/json"
	"net/http"
	"slices"
)

// The most tags a resource may have, and the longest a tag may be.
const (
	maxTags      = 50
	maxTagLength = 60
)

// serveTags registers the extension standard-attr-tag for a collection.
func serveTags[T any](c *Cloud, e endpoint, k *collection[T]) {
	if !c.config.hasExtension("standard-attr-tag") {
		return
	}
	at := "/v2.0/" + k.path + "/{id}/tags"
	on := func(pattern string, do func(q *request, std *Standard) (reply, error)) {
		c.route(e, pattern, func(q *request) (reply, error) {
			find := k.findOwn
			if q.http.Method == http.MethodGet {
				find = k.find
			}
			row, err := find(q)
			if err != nil {
				return reply{}, err
			}
			return do(q, k.std(row))
		})
	}
	on("GET "+at, func(_ *request, std *Standard) (reply, error) { return ok(map[string]any{"tags": std.Tags}) })
	on("PUT "+at, func(q *request, std *Standard) (reply, error) {
		var tags []string
		raw, found := unwrap(q.body, "tags")
		if !found || json.Unmarshal(raw, &tags) != nil {
			return reply{}, badRequest("HTTPBadRequest", "Invalid input for tags.")
		}
		if err := c.setTags(std, tags); err != nil {
			return reply{}, err
		}
		return ok(map[string]any{"tags": std.Tags})
	})
	on("DELETE "+at, func(_ *request, std *Standard) (reply, error) {
		if err := c.setTags(std, nil); err != nil {
			return reply{}, err
		}
		return noContent()
	})
	missing := func(q *request) error {
		return notFound("TagNotFound", "Tag %s could not be found.", q.path("tag"))
	}
	on("GET "+at+"/{tag}", func(q *request, std *Standard) (reply, error) {
		if !slices.Contains(std.Tags, q.path("tag")) {
			return reply{}, missing(q)
		}
		return noContent()
	})
	on("PUT "+at+"/{tag}", func(q *request, std *Standard) (reply, error) {
		if err := c.setTags(std, with(std.Tags, q.path("tag"))); err != nil {
			return reply{}, err
		}
		return reply{status: http.StatusCreated}, nil
	})
	on("DELETE "+at+"/{tag}", func(q *request, std *Standard) (reply, error) {
		if !slices.Contains(std.Tags, q.path("tag")) {
			return reply{}, missing(q)
		}
		if err := c.setTags(std, without(std.Tags, func(t string) bool { return t == q.path("tag") })); err != nil {
			return reply{}, err
		}
		return noContent()
	})
}

func (c *Cloud) setTags(std *Standard, tags []string) error {
	unique := []string{}
	for _, t := range tags {
		if t == "" || len(t) > maxTagLength {
			return badRequest("HTTPBadRequest", "Invalid input for tags. Reason: '%s' exceeds maximum length of %d.", t, maxTagLength)
		}
		if !slices.Contains(unique, t) {
			unique = append(unique, t)
		}
	}
	if len(unique) > maxTags {
		return badRequest("HTTPBadRequest", "Invalid input for tags. Reason: more than %d tags.", maxTags)
	}
	std.Tags = unique
	c.touch(std)
	return nil
}
