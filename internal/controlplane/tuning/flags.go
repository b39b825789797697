package tuning

import "strings"

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
