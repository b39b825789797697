package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/checks"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/timeline"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// conditionsTimeout bounds how long gardenlet's conditions may take after a step: gardenlet looks at a Shoot every half minute, and gives a
// condition that was True a minute before it is False.
const conditionsTimeout = 4 * time.Minute

// expectedError is an error that is no fault.
type expectedError = checks.Expected

// checkSet names checks.
type checkSet []string

// Names of checks.
const (
	checkConditions = "conditions"
	checkCalls      = "calls"
)

// alwaysExpected are errors that any step may cause.
func alwaysExpected() []expectedError {
	return []expectedError{
		{Text: "the object has been modified; please apply your changes to the latest version", Reason: "several controllers write one object; the write is retried"},
		{Text: "has no finalizers set. So not reconciling the machine", Reason: "machine-controller-manager's library: a new machine class is seen before its finalizer; it is retried"},
		{Text: "No machine found matching node", Reason: "machine-controller-manager's library: a Node joins before its Machine names it"},
		{Text: "no machines matching node found", Reason: "machine-controller-manager's library: a Node joins before its Machine names it"},
		{Text: "Node object not found in store, might have been deleted", Reason: "machine-controller-manager's library: a Node is deleted while a change of it is enqueued"},
		{Text: "requires zero voluntary evictions", Reason: "machine-controller-manager's library: two machines that go at once evict pods of one workload, of which its budget permits one; the drain is tried again"},
		{Text: "Machine labels/annotations update is successful", Reason: "machine-controller-manager's library reports this success as an error, so that the Machine is enqueued again"},
	}
}

// lostLeases are what controllers say that could not renew their Leases. That is no fault while a landscape starts, which takes all processors: API servers
// then do not answer for long, and the controllers are started again.
func lostLeases() []expectedError {
	const reason = "a seed's API server does not answer while the landscape starts; a controller that loses its Lease ends, and is started again"
	return []expectedError{
		{Text: "rror retrieving lease lock", Reason: reason},
		{Text: "rror retrieving resource lock", Reason: reason},
		{Text: "ailed to update lease", Reason: reason},
		{Text: "leader election lost", Reason: reason},
	}
}

// audits are the audit logs of all API servers.
type audits struct {
	garden, seeds []*audit.Cursor
	shootLogs     []func(technicalID string) []audit.Log
	shoots        map[audit.Log]*audit.Cursor
}

func newAudits(landscape Landscape) *audits {
	a := &audits{shoots: map[audit.Log]*audit.Cursor{}}
	for _, log := range landscape.GardenAudits {
		a.garden = append(a.garden, log.Cursor())
	}
	for _, seed := range landscape.Seeds {
		for _, log := range seed.Audits {
			a.seeds = append(a.seeds, log.Cursor())
		}
		if seed.ShootAudits != nil {
			a.shootLogs = append(a.shootLogs, seed.ShootAudits)
		}
	}
	return a
}

// forbidden returns requests of ours that were forbidden since the last call.
func (a *audits) forbidden(registrations, technicalIDs []string) ([]string, error) {
	var refused []string
	var failures []error
	read := func(cluster string, cursors []*audit.Cursor, match func(string) bool) {
		for _, cursor := range cursors {
			lines, err := cursor.Forbidden(match)
			failures = append(failures, err)
			for _, line := range lines {
				refused = append(refused, "forbidden in the "+cluster+": "+line)
			}
		}
	}
	isExtension := func(user string) bool { return isOursInSeedOrGarden(user, registrations) }
	read("garden", a.garden, isExtension)
	read("seed", a.seeds, isExtension)
	for _, logs := range a.shootLogs {
		for _, id := range technicalIDs {
			for _, log := range logs(id) {
				if a.shoots[log] == nil {
					a.shoots[log] = log.FromStart()
				}
				read("shoot", []*audit.Cursor{a.shoots[log]}, isOursInShoot)
			}
		}
	}
	return refused, errors.Join(failures...)
}

// isOursInSeedOrGarden reports whether a user is the ServiceAccount of one of our controllers: in a namespace of its installation, or, in the garden,
// with the name of one in the namespace of the seed.
func isOursInSeedOrGarden(user string, registrations []string) bool {
	namespace, name, is := strings.Cut(strings.TrimPrefix(user, "system:serviceaccount:"), ":")
	if !is {
		return false
	}
	return slices.ContainsFunc(registrations, func(registration string) bool {
		prefix := "extension-" + registration
		return namespace == prefix || strings.HasPrefix(namespace, prefix+"-") ||
			strings.HasPrefix(namespace, "seed-") && (name == prefix || strings.HasPrefix(name, prefix+"-"))
	})
}

// isOursInShoot reports whether a user of a shoot is one that our controllers deploy or act as.
func isOursInShoot(user string) bool {
	name, is := strings.CutPrefix(user, "system:serviceaccount:kube-system:")
	return is && slices.ContainsFunc([]string{"cloud-controller-manager", "csi-", "calico", "machine-controller-manager", "extension-"}, func(prefix string) bool {
		return strings.HasPrefix(name, prefix)
	})
}

// seedLogs are the logs of our containers in a seed.
type seedLogs struct{ *checks.Logs }

func newSeedLogs(s Seed) *seedLogs {
	return &seedLogs{&checks.Logs{Dir: s.Logs}}
}

// isOurContainer reports whether a container in a seed is ours.
func isOurContainer(registrations []string, namespace, container string) bool {
	return container == openstack.MachineController || slices.ContainsFunc(registrations, func(registration string) bool {
		return strings.HasPrefix(namespace, "extension-"+registration)
	})
}

// check does all checks after a step, and returns what is wrong.
func (r *run) check(ctx context.Context, step Step, result *StepResult) []string {
	problems := r.checkConditions(ctx, step, result)
	result.Checked = r.now()
	if result.beside {
		result.Checked = result.To // it may have ended some steps ago
	}
	problems = append(problems, r.missing(ctx)...)

	ids := make([]string, 0, len(r.accountNames()))
	for _, name := range r.accountNames() {
		ids = append(ids, r.account(name).technicalID())
	}
	refused, err := r.audits.forbidden(r.Registrations, ids)
	if err != nil {
		problems = append(problems, err.Error())
	}
	var lines []string
	for _, logs := range r.logs {
		logs.IsOurs = func(namespace, _, container string) bool {
			return isOurContainer(r.Registrations, namespace, container)
		}
		found, err := logs.Errors()
		if err != nil {
			problems = append(problems, err.Error())
		}
		lines = append(lines, found...)
	}
	expected := slices.Concat(alwaysExpected(), step.expected)
	for _, beside := range r.besides {
		expected = append(expected, beside.step.expected...)
	}
	problems = append(problems, checks.Unexpected(slices.Concat(refused, lines), expected)...)
	return append(problems, r.checkCalls(step, result)...)
}

// checkConditions waits until all conditions of the main Shoot are True, which a step that ran beside others leaves to them.
func (r *run) checkConditions(ctx context.Context, step Step, result *StepResult) []string {
	if slices.Contains(step.without, checkConditions) || result.beside {
		return nil
	}
	if err := r.awaitConditions(ctx, r.main); err != nil {
		return []string{err.Error()}
	}
	return nil
}

// awaitConditions waits until all conditions of a Shoot are True.
func (r *run) awaitConditions(ctx context.Context, s *shoot) error {
	ctx, cancel := context.WithTimeout(ctx, conditionsTimeout)
	defer cancel()
	return r.await(ctx, "gardenlet's conditions", func(ctx context.Context) (string, error) {
		found, err := r.get(ctx, s)
		if err != nil {
			return "", err
		}
		if wrong := checks.Conditions(found); len(wrong) > 0 {
			all := strings.Join(wrong, "; ")
			return all, errors.New(all)
		}
		return "", nil
	})
}

// checkCalls compares the calls since the last check with the budgets. Those of a step that runs beside this one are counted for that.
func (r *run) checkCalls(step Step, result *StepResult) []string {
	log := r.Cloud.Log()
	r.Cloud.ResetLog()
	program := func(client string) string { return r.pods.at(client).program }
	for _, beside := range r.besides {
		beside.result.addCalls(openstack.ByProgram(log.Where(func(c wire.Call) bool { return r.pods.at(c.Client).seed == beside.seed }), program))
	}
	sorted := openstack.ByProgram(log.Where(func(c wire.Call) bool { return r.besideIn(r.pods.at(c.Client).seed) == nil }), program)
	result.addCalls(sorted)
	if slices.Contains(step.without, checkCalls) {
		return nil
	}
	to := r.now()
	work := workIn(r.samplesOfSteps(), result.From, to)
	work.Started, work.Accounts, work.Additional = r.pods.started(result.From, to), len(r.accountNames()), step.calls
	return openstack.OverBudget(sorted, work)
}

// samplesOfSteps are the recorded samples, without those of seeds in which a step runs beside others.
func (r *run) samplesOfSteps() []timeline.Sample {
	return slices.DeleteFunc(r.recorder.Samples(), func(s timeline.Sample) bool { return r.besideIn(s.Cluster) != nil })
}

// inventories lists what is left of deleted Shoots: in the cloud, in seeds and in the garden.
func (r *run) inventories(ctx context.Context, shoots []*shoot) (map[string][]string, error) {
	inventories := map[string][]string{"cloud": {}, "garden": {}}
	var failures []error
	add := func(where string, lines []string, err error) {
		inventories[where] = append(inventories[where], lines...)
		failures = append(failures, err)
	}
	for _, s := range shoots {
		namesID := func(object *metav1.PartialObjectMetadata) bool {
			return checks.Names(object, []string{s.technicalID()})
		}
		lines, err := s.account.ResourceNames(ctx)
		add("cloud", lines, err)
		for _, seed := range r.seeds {
			inventories["seed "+seed.Name] = append([]string{}, inventories["seed "+seed.Name]...)
			lines, err := checks.Leftovers(ctx, seed.rest, "*", namesID)
			add("seed "+seed.Name, lines, err)
		}
		lines, err = checks.Leftovers(ctx, r.gardenREST, projectNamespace, func(object *metav1.PartialObjectMetadata) bool {
			return namesID(object) || object.Namespace == projectNamespace && checks.IsOfShoot(object, s.name)
		})
		add("garden", lines, err)
	}
	if err := errors.Join(failures...); err != nil {
		return nil, fmt.Errorf("listing what is left of the Shoots: %w", err)
	}
	return inventories, nil
}
