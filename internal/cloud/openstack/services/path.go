package services

import (
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

const anyID = "{id}"

// PathOf normalizes a path of a service, so that calls for different resources have the same path: the identifier of a resource
// becomes {id}, be it an ID, a name, an alias or a tag. The version is kept. The path is that of a URL, without the prefix of the service.
//
// In OpenStack's paths, collections and their members alternate, "/v2.0/routers/{id}/add_router_interface", with few
// exceptions.
func PathOf(s wire.Service, path string) string {
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	collection := "" // the collection whose member is next, or "" if a collection is next
	for i, part := range parts {
		switch {
		case part == "" || i == 0 && IsVersion(part) || collection == "" && isNamespace(s, part):
		case isID(part) || collection != "" && !isView(s, collection, part):
			parts[i], collection = anyID, ""
		default:
			collection = part
		}
	}
	return "/" + strings.Join(parts, "/")
}

// isNamespace reports whether the word precedes a collection and is none itself.
func isNamespace(s wire.Service, word string) bool {
	var words []string
	switch s {
	case Keystone:
		if strings.HasPrefix(word, "OS-") {
			return true
		}
		words = []string{"auth"}
	case Neutron:
		words = []string{"fwaas", "lbaas", "log", "qos", "sfc", "vpn"}
	case Octavia:
		words = []string{"lbaas", "octavia"}
	case Glance:
		words = []string{"info", "schemas"}
	}
	return slices.Contains(words, word)
}

// isView reports whether the word after a collection is not a member of it, but another view of it.
func isView(s wire.Service, collection, word string) bool {
	switch collection {
	case "os-keypairs", "tags", "metadata", "os-extra_specs":
		return false // users choose the names of the members
	case "quotas", "types":
		return word == "default" || word == "defaults"
	default:
		return word == "detail" && (s == Nova || s == Manila || s == Cinder)
	}
}

// IsVersion reports whether a part of a path is a version such as v2 or v2.1.
func IsVersion(part string) bool {
	digits, found := strings.CutPrefix(part, "v")
	return found && digits != "" && strings.Trim(digits, "0123456789.") == ""
}

// isID reports whether a part of a path is a UUID, with or without its dashes.
func isID(part string) bool {
	return len(strings.ReplaceAll(part, "-", "")) == 32 && strings.Trim(part, "0123456789abcdefABCDEF-") == ""
}
