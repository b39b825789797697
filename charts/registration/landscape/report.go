package landscape

import (
	"fmt"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Report describes the registrations and seeds of a landscape.
type Report struct {
	// Problems concern the landscape as a whole: a kind and type with two primaries.
	Problems []string
	Seeds    []SeedReport
	// Hints name kinds and types that no object needs yet.
	Hints []string
	// Planned is set if nothing is installed anywhere, so that there are no states.
	Planned bool
}

// SeedReport describes one seed.
type SeedReport struct {
	Name, Provider string
	Shoots         int
	// Rows are the wanted kinds and types, in order.
	Rows []Row
	// Problems are sentences about what blocks Gardener or a shoot.
	Problems []string
	// Notes are sentences about what was not examined, or is about to change.
	Notes []string
}

// Row is a kind and type that a seed needs.
type Row struct {
	ID
	// Servers are the registrations for it, the primary first.
	Servers    []Server
	RequiredBy []string
}

// Server is a registration and its state on a seed.
type Server struct {
	Registration     string
	Primary, Trellis bool
	State            State
}

// State is the state of an installation.
type State string

// The states.
const (
	StateReady        State = "ready"
	StateAbsent       State = "not here yet"
	StateNotInstalled State = "not installed"
	StateUnhealthy    State = "unhealthy"
	StateRollingOut   State = "rolling out"
	StateDeleting     State = "being deleted"
	StateNotSelected  State = "not for this seed"
)

// OK reports whether all that is needed is registered correctly.
func (r Report) OK() bool {
	return len(r.Problems) == 0 && !slices.ContainsFunc(r.Seeds, func(s SeedReport) bool { return len(s.Problems) > 0 })
}

// Ready reports whether each row of each seed has a primary that is installed, healthy and not progressing, which Gardener requires before it
// reconciles a shoot.
func (r Report) Ready() bool {
	for _, seed := range r.Seeds {
		for _, row := range seed.Rows {
			if len(row.Servers) == 0 || row.Servers[0].State != StateReady {
				return false
			}
		}
	}
	return true
}

// Inspect examines the seeds with these names, or all without names, sorted by name. An unknown name is an error.
func Inspect(g *Garden, seeds ...string) (Report, error) {
	registered := register(g)
	report := Report{Problems: registered.duplicates(), Hints: hints(g, registered), Planned: len(g.Installations) == 0}
	unseen := slices.Clone(seeds)
	for i := range g.Seeds {
		seed := &g.Seeds[i]
		if len(seeds) > 0 && !slices.Contains(seeds, seed.Name) {
			continue
		}
		unseen = slices.DeleteFunc(unseen, func(name string) bool { return name == seed.Name })
		report.Seeds = append(report.Seeds, inspectSeed(g, registered, seed))
	}
	if len(unseen) > 0 {
		return Report{}, fmt.Errorf("there is no seed %s in this garden", strings.Join(unseen, ", "))
	}
	slices.SortFunc(report.Seeds, func(a, b SeedReport) int { return strings.Compare(a.Name, b.Name) })
	return report, nil
}

func inspectSeed(g *Garden, registered registry, seed *gardencorev1beta1.Seed) SeedReport {
	report := SeedReport{Name: seed.Name, Provider: seed.Spec.Provider.Type}
	for i := range g.Shoots {
		if isOn(&g.Shoots[i], seed.Name) {
			report.Shoots++
		}
	}
	here := installationsOn(g, seed.Name)
	requirements := Required(g, seed)
	for _, id := range requirements.IDs() {
		row := Row{ID: id, RequiredBy: requirements[id]}
		for _, r := range registered.serving[id] {
			row.Servers = append(row.Servers, Server{
				Registration: r.name, Primary: r.primary[id], Trellis: r.trellis, State: stateOn(seed, r, here[r.name]),
			})
		}
		report.Rows = append(report.Rows, row)
		if problem := registered.problemOf(id); problem != "" {
			report.Problems = append(report.Problems, fmt.Sprintf("%s %s. Wanted by %s", id, problem, requirersText(row.RequiredBy)))
		}
	}
	problems, unknown := blockers(g, registered, requiredOn(g, registered, seed, report, here), here)
	report.Problems = append(report.Problems, problems...)
	report.Notes = slices.Concat(notes(g, report, here, g.Domains[seed.Name].Unknown), unknown, installationProblems(registered, here))
	return report
}

// installationProblems names the installations that are reported as invalid or were not evaluated: a deployment with a type of its own needs
// an operator, which may be missing.
func installationProblems(registered registry, here map[string]*gardencorev1beta1.ControllerInstallation) []string {
	var notes []string
	for _, name := range sortedKeys(here) {
		r, conditions := registered.byName[name], here[name].Status.Conditions
		i := slices.IndexFunc(conditions, func(c gardencorev1beta1.Condition) bool {
			return c.Type == gardencorev1beta1.ControllerInstallationValid
		})
		switch {
		case i >= 0 && conditions[i].Status != gardencorev1beta1.ConditionTrue:
			notes = append(notes, fmt.Sprintf("%s is not said to be valid (%s): %s", name, conditions[i].Reason, conditions[i].Message))
		case i < 0 && r != nil && r.installer != "" && r.installer != gardencorev1beta1.ControllerDeploymentTypeHelm:
			notes = append(notes, fmt.Sprintf("%s is of type %s, and no operator for that type says anything of its installation; let one serve this seed, "+
				"or apply another form of the registration", name, r.installer))
		}
	}
	return notes
}

func notes(g *Garden, report SeedReport, here map[string]*gardencorev1beta1.ControllerInstallation, unknown string) []string {
	var notes []string
	if unknown != "" {
		notes = append(notes, unknown)
	}
	wanted := map[string]bool{}
	for _, row := range report.Rows {
		for _, server := range row.Servers {
			wanted[server.Registration] = true
		}
	}
	var others []string
	for _, name := range sortedKeys(here) {
		if !wanted[name] {
			others = append(others, name+policyOf(g, name))
		}
	}
	if len(others) > 0 {
		notes = append(notes, "also installed, though nothing above is theirs: "+strings.Join(others, ", "))
	}
	return notes
}

func policyOf(g *Garden, name string) string {
	for _, r := range g.Registrations {
		if r.Name == name && r.Spec.Deployment != nil && r.Spec.Deployment.Policy != nil {
			return fmt.Sprintf(" (%s)", *r.Spec.Deployment.Policy)
		}
	}
	return ""
}

// installationsOn returns the installations on a seed by the names of their registrations.
func installationsOn(g *Garden, seed string) map[string]*gardencorev1beta1.ControllerInstallation {
	here := map[string]*gardencorev1beta1.ControllerInstallation{}
	for i := range g.Installations {
		installation := &g.Installations[i]
		if ref := installation.Spec.SeedRef; ref != nil && ref.Name == seed {
			here[installation.Spec.RegistrationRef.Name] = installation
		}
	}
	return here
}

// stateOn returns the state of an installation by the three conditions that Gardener checks before it reconciles a shoot
// (IsControllerInstallationSuccessful).
func stateOn(seed *gardencorev1beta1.Seed, r *registered, installation *gardencorev1beta1.ControllerInstallation) State {
	switch {
	case installation == nil && !selects(r.selector, seed.Labels):
		return StateNotSelected
	case installation == nil:
		return StateAbsent
	case installation.DeletionTimestamp != nil:
		return StateDeleting
	case !has(installation, gardencorev1beta1.ControllerInstallationInstalled, gardencorev1beta1.ConditionTrue):
		return StateNotInstalled
	case !has(installation, gardencorev1beta1.ControllerInstallationProgressing, gardencorev1beta1.ConditionFalse):
		return StateRollingOut
	case !has(installation, gardencorev1beta1.ControllerInstallationHealthy, gardencorev1beta1.ConditionTrue):
		return StateUnhealthy
	default:
		return StateReady
	}
}

func has(installation *gardencorev1beta1.ControllerInstallation, typ gardencorev1beta1.ConditionType, status gardencorev1beta1.ConditionStatus) bool {
	return slices.ContainsFunc(installation.Status.Conditions, func(c gardencorev1beta1.Condition) bool { return c.Type == typ && c.Status == status })
}

// selects reports whether the selector matches the seed. An invalid one matches none; Gardener reports it.
func selects(selector *metav1.LabelSelector, seed map[string]string) bool {
	if selector == nil {
		return true
	}
	s, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && s.Matches(labels.Set(seed))
}
