package landscape

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Print writes the report for people: a table for each seed, then what is wrong.
func Print(out io.Writer, r Report) error {
	p := &printer{out: out}
	for _, seed := range r.Seeds {
		p.seed(seed, r.Planned)
	}
	p.section("Problems of the whole landscape:", r.Problems)
	p.section("Hints:", r.Hints)
	p.summary(r)
	return p.err
}

// printer keeps the first error, so that each line need not.
type printer struct {
	out io.Writer
	err error
}

func (p *printer) linef(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.out, format+"\n", args...)
	}
}

func (p *printer) section(title string, sentences []string) {
	if len(sentences) == 0 {
		return
	}
	p.linef("%s", title)
	for _, sentence := range sentences {
		p.linef("  - %s", sentence)
	}
	p.linef("")
}

func (p *printer) seed(seed SeedReport, planned bool) {
	p.linef("Seed %s (%s, %s)\n", seed.Name, seed.Provider, count(seed.Shoots, "shoot"))
	if len(seed.Rows) == 0 {
		p.linef("  Nothing is wanted here.")
	} else {
		p.table(seed.Rows, planned)
	}
	p.linef("")
	p.section("  Problems:", seed.Problems)
	p.section("  Notes:", seed.Notes)
}

// table leaves the column of states out where nothing is installed yet.
func (p *printer) table(rows []Row, planned bool) {
	lines := [][]string{{"KIND", "TYPE", "SERVED BY", "ON THE SEED", "WANTED BY"}}
	for _, row := range rows {
		first := []string{row.Kind, row.Type, "NOBODY", "missing", requirersText(row.RequiredBy)}
		if len(row.Servers) > 0 {
			first[2], first[3] = nameOf(row.Servers[0]), string(row.Servers[0].State)
		}
		lines = append(lines, first)
		for _, server := range row.Servers[min(1, len(row.Servers)):] {
			lines = append(lines, []string{"", "", nameOf(server), string(server.State), ""})
		}
	}
	if planned {
		for i := range lines {
			lines[i] = slices.Delete(lines[i], 3, 4)
		}
	}
	widths := make([]int, len(lines[0]))
	for _, cells := range lines {
		for i, cell := range cells {
			widths[i] = max(widths[i], len(cell))
		}
	}
	for _, cells := range lines {
		var line strings.Builder
		for i, cell := range cells {
			fmt.Fprintf(&line, "  %-*s", widths[i], cell)
		}
		p.linef("%s", strings.TrimRight(line.String(), " "))
	}
}

func nameOf(s Server) string {
	name := s.Registration
	if s.Trellis {
		name += " *"
	}
	if !s.Primary {
		name += " (secondary)"
	}
	return name
}

func (p *printer) summary(r Report) {
	trellis := slices.ContainsFunc(r.Seeds, func(s SeedReport) bool {
		return slices.ContainsFunc(s.Rows, func(row Row) bool {
			return slices.ContainsFunc(row.Servers, func(server Server) bool { return server.Trellis })
		})
	})
	if trellis {
		p.linef("* of Trellis")
	}
	problems := len(r.Problems)
	for _, seed := range r.Seeds {
		problems += len(seed.Problems)
	}
	switch {
	case len(r.Seeds) == 0 && problems == 0:
		p.linef("There are no seeds.")
	case problems > 0:
		p.linef("%s on %s.", count(problems, "problem"), count(len(r.Seeds), "seed"))
	case r.Planned:
		p.linef("All that is wanted on %s is registered once. Nothing is installed.", count(len(r.Seeds), "seed"))
	case r.Ready():
		p.linef("All that is wanted on %s is registered once, and ready.", count(len(r.Seeds), "seed"))
	default:
		p.linef("All that is wanted on %s is registered once. Not all of it is ready: shoots that need it wait.", count(len(r.Seeds), "seed"))
	}
}

// requirersText names two, the seed before all others, and how many more there are.
func requirersText(all []string) string {
	const shown = 2
	all = slices.SortedFunc(slices.Values(all), func(a, b string) int {
		return cmp.Or(-compareBool(a == theSeed, b == theSeed), strings.Compare(a, b))
	})
	if len(all) <= shown {
		return list(all)
	}
	return strings.Join(all[:shown], ", ") + fmt.Sprintf(" and %d more", len(all)-shown)
}

func list(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	return strings.Join(items[:len(items)-1], ", ") + " and " + items[len(items)-1]
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
