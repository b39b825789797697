package conformance

import (
	"fmt"
	"io"
)

// WriteTable lists the behaviours with their results on two clouds side by side, and returns how many passed on both and
// answered alike. The differences are by sentence, see Differences.
func WriteTable(w io.Writer, nameA, nameB string, a, b []Result, differences map[string][]string) (agreed int, err error) {
	byName := map[string]Result{}
	for _, result := range b {
		byName[result.Name] = result
	}
	area := ""
	for _, one := range a {
		if one.Area != area {
			area = one.Area
			if _, err := fmt.Fprintf(w, "\n%-10s %-10s %-7s %s\n", nameA, nameB, "alike", area); err != nil {
				return 0, err
			}
		}
		other := byName[one.Name]
		alike := one.Tried && other.Tried && len(differences[one.Name]) == 0
		if one.Passed && other.Passed && alike {
			agreed++
		}
		if _, err := fmt.Fprintf(w, "%-10s %-10s %-7s %s\n", outcome(one), outcome(other), yesOrNo(alike), one.Name); err != nil {
			return 0, err
		}
	}
	_, err = fmt.Fprintf(w, "\n%d behaviours, %d of them pass on both clouds and are answered alike\n", len(a), agreed)
	return agreed, err
}

func outcome(r Result) string {
	switch {
	case !r.Tried:
		return "not tried"
	case r.Passed:
		return "passed"
	default:
		return "FAILED"
	}
}

func yesOrNo(alike bool) string {
	if alike {
		return "yes"
	}
	return "NO"
}
