package inspect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
)

// longestID is the length of the longest text that is taken for an ID.
const longestID = 256

// rawIDs lists what looks like an ID in the state, or else in the status, of an Infrastructure of an unknown type. The path of the field is the kind.
func rawIDs(recorded Recorded) ([]Resource, error) {
	finder := idFinder{
		id: regexp.MustCompile(`^[A-Za-z0-9/][A-Za-z0-9._:/@-]*[A-Za-z0-9]$`), digit: regexp.MustCompile(`[0-9/]`), seen: map[string]bool{},
	}
	for _, part := range []struct {
		name string
		raw  []byte
	}{{"state", recorded.State}, {"status", recorded.Status}} {
		if len(part.raw) == 0 {
			continue
		}
		decoder := json.NewDecoder(bytes.NewReader(part.raw))
		decoder.UseNumber()
		var value any
		if err := decoder.Decode(&value); err != nil {
			return finder.found, fmt.Errorf("reading the %s of the Infrastructure: %w", part.name, err)
		}
		finder.find("", value)
	}
	return finder.found, nil
}

// idFinder collects IDs, each of them once.
type idFinder struct {
	id, digit *regexp.Regexp
	seen      map[string]bool
	found     []Resource
}

func (f *idFinder) find(path string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if key == "apiVersion" || key == "kind" {
				continue
			}
			f.find(join(path, key), value[key])
		}
	case []any:
		for _, item := range value {
			f.find(path, item)
		}
	case string:
		if f.isID(value) && !f.seen[value] {
			f.seen[value] = true
			f.found = append(f.found, Resource{Kind: text(path), ID: value, Origin: OriginUnknown})
		}
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// isID excludes words, ranges and addresses.
func (f *idFinder) isID(value string) bool {
	if len(value) > longestID || !f.id.MatchString(value) || !f.digit.MatchString(value) {
		return false
	}
	_, noRange := netip.ParsePrefix(value)
	_, noAddress := netip.ParseAddr(value)
	return noRange != nil && noAddress != nil
}
