package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/schema"
)

// serveTags registers the extension standard-attr-tag for a collection.
func serveTags[T any](svc *neutronService, e endpoint, k *collection[T]) {
	if !svc.config.hasExtension("standard-attr-tag") {
		return
	}
	at := "/v2.0/" + k.path + "/{id}/tags"
	on := func(pattern string, do func(q *request, std *Standard) (reply, error)) {
		svc.route(e, pattern, func(q *request) (reply, error) {
			row, err := k.find(q) // whoever sees something may tag it
			if err != nil {
				return reply{}, core.NotFound("TagResourceNotFound", "Resource %s %s could not be found.", k.plural, q.path("id"))
			}
			return do(q, k.std(row))
		})
	}
	on("GET "+at, func(_ *request, std *Standard) (reply, error) { return ok(map[string]any{"tags": std.Tags}) })
	on("PUT "+at, func(q *request, std *Standard) (reply, error) {
		raw, found := core.Unwrap(q.body, "tags")
		if !found {
			return reply{}, invalid("Invalid tags body")
		}
		tags, wrong := readTags(raw)
		if wrong != "" {
			return reply{}, invalid("%s", wrong)
		}
		svc.setTags(std, tags)
		return ok(map[string]any{"tags": std.Tags})
	})
	on("DELETE "+at, func(_ *request, std *Standard) (reply, error) {
		svc.setTags(std, nil)
		return noContent()
	})
	missing := func(q *request) error {
		return core.NotFound("TagNotFound", "Tag %s could not be found.", q.path("tag"))
	}
	on("GET "+at+"/{tag}", func(q *request, std *Standard) (reply, error) {
		if !slices.Contains(std.Tags, q.path("tag")) {
			return reply{}, missing(q)
		}
		return noContent()
	})
	on("PUT "+at+"/{tag}", func(q *request, std *Standard) (reply, error) {
		tag := q.path("tag")
		if wrong := tooLong(tag); wrong != "" {
			return reply{}, invalid("%s", wrong)
		}
		if !slices.Contains(std.Tags, tag) {
			svc.setTags(std, core.With(std.Tags, tag))
		}
		return reply{status: http.StatusCreated, body: json.RawMessage("null")}, nil
	})
	on("DELETE "+at+"/{tag}", func(q *request, std *Standard) (reply, error) {
		if !slices.Contains(std.Tags, q.path("tag")) {
			return reply{}, missing(q)
		}
		svc.setTags(std, core.Without(std.Tags, func(t string) bool { return t == q.path("tag") }))
		return noContent()
	})
}

func (svc *neutronService) setTags(std *Standard, tags []string) {
	std.Tags = append([]string{}, tags...)
	svc.touch(std)
}

// readTags reads a list of tags, or says what is wrong with it.
func readTags(raw json.RawMessage) (tags []string, wrong string) {
	var sent any
	if json.Unmarshal(raw, &sent) != nil {
		return nil, "Invalid tags body"
	}
	list, isList := sent.([]any)
	if !isList {
		return nil, fmt.Sprintf("'%s' is not a list", schema.PythonText(sent))
	}
	for _, one := range list {
		tag, isText := one.(string)
		if !isText {
			return nil, fmt.Sprintf("'%s' is not a valid string", schema.PythonText(one))
		}
		if wrong := tooLong(tag); wrong != "" {
			return nil, wrong
		}
		if slices.Contains(tags, tag) {
			return nil, fmt.Sprintf("Duplicate items in the list: '%s'", tag)
		}
		tags = append(tags, tag)
	}
	return tags, ""
}

func tooLong(tag string) string {
	if len([]rune(tag)) > maxText {
		return fmt.Sprintf("'%s' exceeds maximum length of %d", tag, maxText)
	}
	return ""
}
