package manager

import (
	"fmt"
	"strings"
)

// helpText returns the output of --help. Defaults are those of a process outside a pod.
func helpText(b Binary) string {
	cfg := defaultConfig(b, environment{})
	var page strings.Builder
	fmt.Fprintf(&page, "%s\n\nUsage:\n  %s --types=TYPE,... [flags]\n", b.Description, b.Name)
	for _, section := range cfg.sections(b) {
		fmt.Fprintf(&page, "\n%s:\n", section.title)
		for _, s := range section.flags {
			page.WriteString(s.help())
		}
	}
	return page.String()
}

// help returns the flag's lines of that output.
func (s setting) help() string {
	var lines strings.Builder
	if s.short != "" {
		fmt.Fprintf(&lines, "  -%s,", s.short)
	} else {
		lines.WriteString(" ")
	}
	fmt.Fprintf(&lines, " --%s", s.name)
	if s.value != "" {
		fmt.Fprintf(&lines, "=%s", s.value)
	}
	fmt.Fprintf(&lines, "\n        %s\n", s.usage)
	var clauses []string
	if s.required {
		clauses = append(clauses, "Required.")
	}
	if s.allowed != "" {
		clauses = append(clauses, "Allowed: "+s.allowed+".")
	}
	if s.defaults != "" {
		clauses = append(clauses, "Default: "+s.defaults+".")
	}
	if len(clauses) > 0 {
		fmt.Fprintf(&lines, "        %s\n", strings.Join(clauses, " "))
	}
	return lines.String()
}
