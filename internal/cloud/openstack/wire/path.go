package wire

import (
	"slices"
	"strings"
)

const anyID = "{id}"

// PathOf normalises a path of a service, so that calls can be counted whatever they are about: what names one resource
// becomes {id}, be it an ID, a name, an alias or a tag. The version stays. The path is as it stands in a URL, without
// what precedes the service's own part of it.
//
// OpenStack's paths tell collections and their members in turn, "/v2.0/routers/{id}/add_router_interface", and the words
// out of turn are few.
func PathOf(s Service, path string) string {
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	collection := "" // the collection whose member is next, or "" if a collection is next
	for i, part := range parts {
		switch {
		case part == "" || i == 0 && IsVersion(part) || collection == "" && s.isNamespace(part):
		case isID(part) || collection != "" && !s.isView(collection, part):
			parts[i], collection = anyID, ""
		default:
			collection = part
		}
	}
	return "/" + strings.Join(parts, "/")
}

// isNamespace reports whether the word stands before a collection and not for one.
func (s Service) isNamespace(word string) bool {
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

// isView reports whether the word after a collection is no member of it, but another look at it.
func (s Service) isView(collection, word string) bool {
	switch collection {
	case "os-keypairs", "tags", "metadata", "os-extra_specs":
		return false // people choose the names of the members
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
