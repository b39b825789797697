package neutron

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/schema"
)

// serveTags registers the extension standard-attr-tag for a collection.
func serveTags[T any](svc *Service, e core.Endpoint, k *collection[T]) {
	if !svc.Config.HasExtension("standard-attr-tag") {
		return
	}
	at := "/v2.0/" + k.path + "/{id}/tags"
	on := func(pattern string, do func(q *core.Request, std *Standard) (core.Reply, error)) {
		svc.Route(e, pattern, func(q *core.Request) (core.Reply, error) {
			row, err := k.find(q) // whoever sees something may tag it
			if err != nil {
				return core.Reply{}, core.NotFound("TagResourceNotFound", "Resource %s %s could not be found.", k.plural, q.Path("id"))
			}
			return do(q, k.std(row))
		})
	}
	on("GET "+at, func(_ *core.Request, std *Standard) (core.Reply, error) {
		return core.OK(map[string]any{"tags": std.Tags})
	})
	on("PUT "+at, func(q *core.Request, std *Standard) (core.Reply, error) {
		raw, found := core.Unwrap(q.Body, "tags")
		if !found {
			return core.Reply{}, invalid("Invalid tags body")
		}
		tags, wrong := readTags(raw)
		if wrong != "" {
			return core.Reply{}, invalid("%s", wrong)
		}
		svc.setTags(std, tags)
		return core.OK(map[string]any{"tags": std.Tags})
	})
	on("DELETE "+at, func(_ *core.Request, std *Standard) (core.Reply, error) {
		svc.setTags(std, nil)
		return core.NoContent()
	})
	missing := func(q *core.Request) error {
		return core.NotFound("TagNotFound", "Tag %s could not be found.", q.Path("tag"))
	}
	on("GET "+at+"/{tag}", func(q *core.Request, std *Standard) (core.Reply, error) {
		if !slices.Contains(std.Tags, q.Path("tag")) {
			return core.Reply{}, missing(q)
		}
		return core.NoContent()
	})
	on("PUT "+at+"/{tag}", func(q *core.Request, std *Standard) (core.Reply, error) {
		tag := q.Path("tag")
		if wrong := tooLong(tag); wrong != "" {
			return core.Reply{}, invalid("%s", wrong)
		}
		if !slices.Contains(std.Tags, tag) {
			svc.setTags(std, core.With(std.Tags, tag))
		}
		return core.Reply{Status: http.StatusCreated, Body: json.RawMessage("null")}, nil
	})
	on("DELETE "+at+"/{tag}", func(q *core.Request, std *Standard) (core.Reply, error) {
		if !slices.Contains(std.Tags, q.Path("tag")) {
			return core.Reply{}, missing(q)
		}
		svc.setTags(std, core.Without(std.Tags, func(t string) bool { return t == q.Path("tag") }))
		return core.NoContent()
	})
}

func (svc *Service) setTags(std *Standard, tags []string) {
	std.Tags = append([]string{}, tags...)
	svc.Touch(std)
}

// readTags parses a list of tags, or returns what is wrong with it.
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
