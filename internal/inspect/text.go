package inspect

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"
)

// Text returns the report for a terminal, without colors.
func Text(report Report) string {
	var page strings.Builder
	fmt.Fprintln(&page, summary(report))
	for _, object := range report.Objects {
		fmt.Fprintf(&page, "\n%s: %s\n", title(object), object.State)
		for _, l := range linesOf(object, report.At) {
			fmt.Fprintf(&page, "  %-10s %s\n", l.label, l.text)
		}
	}
	for _, object := range report.Objects {
		if len(object.Resources) > 0 {
			fmt.Fprintf(&page, "\nCloud resources of %s:\n", title(object))
			writeTable(&page, object.Resources)
		}
	}
	if len(report.Unread) > 0 {
		fmt.Fprintln(&page, "\nCould not be read:")
		for _, err := range report.Unread {
			fmt.Fprintf(&page, "  %s\n", err)
		}
	}
	return page.String()
}

// writeTable writes trees with aligned columns.
func writeTable(page *strings.Builder, resources []Resource) {
	table := tabwriter.NewWriter(page, 0, 0, 2, ' ', 0)
	var write func(resources []Resource, indent string)
	write = func(resources []Resource, indent string) {
		for _, r := range resources {
			fmt.Fprintf(table, "%s%s\t%s\t%s\t%s\t%s\n", indent, r.Kind, cmp.Or(r.Name, "-"), cmp.Or(r.ID, "-"), cmp.Or(r.Detail, "-"), resourceClause(r))
			write(r.Children, indent+"  ")
		}
	}
	write(resources, "  ")
	_ = table.Flush() // a strings.Builder takes everything
}
