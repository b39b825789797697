package apply

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/trellis-garden/trellis/internal/gardenet/desired"
	"github.com/trellis-garden/trellis/internal/gardenet/nft"
	"github.com/trellis-garden/trellis/internal/gardenet/policy"
)

// draftTable is a copy of the wanted table that has no effect. The kernel's listing of it says how the kernel would list the wanted one.
const draftTable = desired.TableName + "-draft"

// applyRules makes the table so, by one transaction.
func (s *step) applyRules(ctx context.Context, verify bool) {
	a := s.applier
	if a.table == nil || verify {
		problems, err := a.compare(ctx, s.state.Table)
		switch {
		case s.failed("comparing the rules with the kernel's", err):
		case len(problems) == 0:
			a.table = &s.state.Table
			return
		case s.do("replacing the rules: "+strings.Join(problems, ", "), func() error { return a.run(ctx, nft.Replace(s.state.Table)) }):
			a.table = &s.state.Table
			return
		}
		a.table = nil
		return
	}
	transaction := nft.Difference(*a.table, s.state.Table)
	if transaction == "" {
		return
	}
	if !s.do("changing the rules", func() error { return a.run(ctx, transaction) }) {
		a.table = nil // the next time, the kernel is asked
		return
	}
	a.table = &s.state.Table
}

// compare returns how the kernel's table differs from the wanted one. Texts of rules differ from their listings, in ways that depend on the version of nft, so
// both are listed: the wanted one as a dormant table, whose chains see no packet.
func (a *Applier) compare(ctx context.Context, wanted nft.Table) (problems []string, err error) {
	present, err := a.list(ctx, wanted.Name)
	if errors.Is(err, errNoTable) {
		return []string{"there is no table"}, nil
	}
	if err != nil {
		return nil, err
	}
	draft := wanted
	draft.Name = draftTable
	text := nft.Replace(draft)
	text = strings.Replace(text, "table inet "+draftTable+" {\n", "table inet "+draftTable+" {\n\tflags dormant\n", 1)
	if err := a.run(ctx, text); err != nil {
		return nil, fmt.Errorf("loading the wanted rules: %w", err)
	}
	listed, err := a.list(ctx, draftTable)
	if err := errors.Join(err, a.run(ctx, "delete table inet "+draftTable+"\n")); err != nil {
		return nil, err
	}
	return differences(objects(present), objects(listed)), nil
}

// objects splits a listing into its sets, chains and counters, by their first lines. Counters have values, which differ.
func objects(listing string) map[string]string {
	all := map[string]string{}
	var name string
	for line := range strings.Lines(listing) {
		line = strings.TrimRight(line, "\n")
		switch {
		case !strings.HasPrefix(line, "\t"): // the table itself
		case !strings.HasPrefix(line, "\t\t") && strings.HasSuffix(line, " {"):
			name = strings.TrimSuffix(strings.TrimSpace(line), " {")
			all[name] = ""
		case strings.HasPrefix(line, "\t\t") && !strings.HasPrefix(name, "counter "):
			all[name] += line + "\n"
		}
	}
	return all
}

// differences names each object that differs.
func differences(present, wanted map[string]string) []string {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		content, ok := present[name]
		switch {
		case !ok:
			found = append(found, name+" is missing")
		case content != wanted[name]:
			found = append(found, name+" differs")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(present)) {
		if _, ok := wanted[name]; !ok {
			found = append(found, name+" is not the agent's")
		}
	}
	return found
}

var errNoTable = errors.New("there is no such table")

// list lists a table without the values of counters.
func (a *Applier) list(ctx context.Context, table string) (string, error) {
	command := exec.CommandContext(ctx, a.options.NFT, "-s", "list", "table", "inet", table) //nolint:gosec // the program is an option of the process
	var stderr bytes.Buffer
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil && strings.Contains(stderr.String(), "No such file or directory") {
		return "", errNoTable
	}
	if err != nil {
		return "", fmt.Errorf("listing the table %s: %w: %s", table, err, firstLine(stderr.String()))
	}
	return string(output), nil
}

// run runs a transaction: either all of it takes effect, or nothing.
func (a *Applier) run(ctx context.Context, transaction string) error {
	command := exec.CommandContext(ctx, a.options.NFT, "-f", "-") //nolint:gosec // the program is an option of the process
	command.Stdin = strings.NewReader(transaction)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("nft: %w: %s", err, firstLine(stderr.String()))
	}
	return nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// Rules returns the generation of the rules for NetworkPolicies that the kernel has, as an agent before this one has left them. It is not found if there are no
// such rules, or if they do not check connections again.
func (a *Applier) Rules(ctx context.Context) (generation uint8, found bool, err error) {
	listing, err := a.list(ctx, desired.TableName)
	if errors.Is(err, errNoTable) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	generation = policy.GenerationIn(listing)
	return generation, generation != 0, nil
}

// Dropped returns how many packets the rules have dropped since the table was made, by the names of its counters.
func (a *Applier) Dropped(ctx context.Context) (map[string]uint64, error) {
	command := exec.CommandContext(ctx, a.options.NFT, "list", "counters", "table", "inet", desired.TableName) //nolint:gosec // the program is an option of the process
	var stderr bytes.Buffer
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil && strings.Contains(stderr.String(), "No such file or directory") {
		return nil, nil //nolint:nilnil // there is no table yet, which has dropped nothing
	}
	if err != nil {
		return nil, fmt.Errorf("listing counters: %w: %s", err, firstLine(stderr.String()))
	}
	packets, name := map[string]uint64{}, ""
	for line := range strings.Lines(string(output)) {
		switch words := strings.Fields(line); {
		case len(words) == 3 && words[0] == "counter":
			name = words[1]
		case len(words) == 4 && words[0] == "packets":
			if packets[name], err = strconv.ParseUint(words[1], 10, 64); err != nil {
				return nil, fmt.Errorf("reading the counter %s: %w", name, err)
			}
		}
	}
	return packets, nil
}
