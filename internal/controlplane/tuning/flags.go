package tuning

import (
	"maps"
	"slices"
	"strings"
)

// dropFlag removes a flag in all its forms: --flag, --flag=value and --flag value.
func dropFlag(arguments []string, flag string) []string {
	kept, changed := arguments[:0:0], false
	for i := 0; i < len(arguments); i++ {
		width := flagWidth(arguments[i:], flag)
		if width == 0 {
			kept = append(kept, arguments[i])
			continue
		}
		changed = true
		i += width - 1
	}
	if !changed {
		return arguments
	}
	return kept
}

// replaceFlag replaces the value of a flag, and removes further occurrences. It reports whether there was one.
func replaceFlag(arguments *[]string, flag, value string) bool {
	for i := range *arguments {
		width := flagWidth((*arguments)[i:], flag)
		if width == 0 {
			continue
		}
		before, after := (*arguments)[:i:i], (*arguments)[i+width:]
		*arguments = append(append(before, flag+"="+value), dropFlag(after, flag)...)
		return true
	}
	return false
}

// flagWidth returns the number of arguments of the flag at the start of some arguments: zero if they start with another one.
func flagWidth(arguments []string, flag string) int {
	switch {
	case strings.HasPrefix(arguments[0], flag+"="):
		return 1
	case arguments[0] != flag:
		return 0
	case len(arguments) > 1 && !strings.HasPrefix(arguments[1], "-"):
		return 2
	default:
		return 1
	}
}

// setEntries returns the value of a flag whose value is a list of key=value, with some entries replaced or appended. If the flag is there several times, the
// lists are joined, and the last value of a key counts, as in the components.
func setEntries(arguments []string, flag string, entries map[string]string) string {
	var keys, list []string
	for i := 0; i < len(arguments); i++ {
		width := flagWidth(arguments[i:], flag)
		if width == 0 {
			continue
		}
		value := strings.TrimPrefix(arguments[i], flag+"=")
		if width == 2 {
			value = arguments[i+1]
		} else if value == arguments[i] {
			value = ""
		}
		i += width - 1
		for entry := range strings.SplitSeq(value, ",") {
			key, _, _ := strings.Cut(strings.TrimSpace(entry), "=")
			_, replaced := entries[key]
			switch at := slices.Index(keys, key); {
			case key == "" || replaced:
			case at >= 0:
				list[at] = entry
			default:
				keys, list = append(keys, key), append(list, entry)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		list = append(list, key+"="+entries[key])
	}
	return strings.Join(list, ",")
}
