package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gardener/gardener/pkg/client/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/nodes"
	"github.com/trellis-garden/trellis/e2e/internal/shootmachines"
	"github.com/trellis-garden/trellis/e2e/internal/standin"
	"github.com/trellis-garden/trellis/e2e/internal/timeline"
)

// Files of a run.
const (
	eventsFile   = "events.jsonl"
	machinesFile = "machines.log"
	reportJSON   = "report.json"
	reportText   = "report.txt"
	timelineSVG  = "timeline.svg"
	timelinePage = "timeline.html"
)

// run is a run in progress.
type run struct {
	Landscape
	garden     client.Client
	gardenREST *rest.Config
	seeds      []*seed
	accounts   *accounts
	main       *shoot
	besides    []*besideStep
	prefix     string // of lines, for a step that runs beside others
	recorder   *timeline.Recorder
	pods       *podRecord
	audits     *audits
	logs       []*seedLogs
	files      []io.Closer
	left       map[string][]string // of deleted Shoots, by place
	now        func() time.Time
}

// seed is a seed with its clients.
type seed struct {
	Seed
	client   client.Client
	rest     *rest.Config
	machines *shootmachines.Machines
}

// connect returns an administrator's config.
func connect(kubeconfig string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading kubeconfig %s: %w", kubeconfig, err)
	}
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{} // inventories list deprecated kinds, too
	return config, nil
}

func newRun(ctx context.Context, landscape Landscape) (_ *run, err error) {
	if len(landscape.Seeds) == 0 || len(landscape.Versions) == 0 {
		return nil, errors.New("a landscape needs a seed and a version of Kubernetes")
	}
	r := &run{Landscape: landscape, accounts: &accounts{byName: map[string]*shoot{}}, pods: newPodRecord(), now: time.Now}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.stop())
		}
	}()
	if r.gardenREST, err = connect(landscape.Garden); err != nil {
		return nil, err
	}
	if r.garden, err = client.New(r.gardenREST, client.Options{Scheme: kubernetes.GardenScheme}); err != nil {
		return nil, fmt.Errorf("connecting to the garden: %w", err)
	}
	events, err := r.create(eventsFile)
	if err != nil {
		return nil, err
	}
	log, err := r.create(machinesFile)
	if err != nil {
		return nil, err
	}
	r.recorder = timeline.NewRecorder(ctx, events)
	if err := r.recorder.Watch("garden", r.gardenREST, timeline.GardenResources()); err != nil {
		return nil, err
	}
	for _, spec := range landscape.Seeds {
		if err := r.addSeed(ctx, spec, log); err != nil {
			return nil, err
		}
	}
	r.audits = newAudits(landscape)
	if err := r.prepare(ctx); err != nil {
		return nil, fmt.Errorf("preparing the garden for shoots: %w", err)
	}
	return r, nil
}

func (r *run) create(name string) (*os.File, error) {
	file, err := os.Create(filepath.Join(r.Dir, name))
	if err != nil {
		return nil, fmt.Errorf("creating a file of the run: %w", err)
	}
	r.files = append(r.files, file)
	return file, nil
}

func (r *run) addSeed(ctx context.Context, spec Seed, log io.Writer) error {
	s := &seed{Seed: spec}
	var err error
	if s.rest, err = connect(spec.Kubeconfig); err != nil {
		return err
	}
	if s.client, err = client.New(s.rest, client.Options{Scheme: kubernetes.SeedScheme}); err != nil {
		return fmt.Errorf("connecting to seed %s: %w", spec.Name, err)
	}
	if err := r.recorder.Watch(spec.Name, s.rest, timeline.SeedResources()); err != nil {
		return err
	}
	if err := r.pods.watch(ctx, spec.Name, s.rest); err != nil {
		return err
	}
	s.machines, err = shootmachines.Start(ctx, shootmachines.Options{Seed: s.rest, Servers: r.serversOf, Log: log})
	if err != nil {
		return err
	}
	r.seeds = append(r.seeds, s)
	r.logs = append(r.logs, newSeedLogs(spec))
	return nil
}

// serversOf returns the function that lists the servers of a shoot; nil for shoots that this run does not know.
func (r *run) serversOf(technicalID string) func(context.Context) ([]nodes.Server, error) {
	for _, name := range []string{mainShoot, quotaShoot} {
		s := r.account(name)
		if s == nil || s.template.Namespace() != technicalID {
			continue
		}
		list := s.account.Servers(s.template)
		if r.Cloud.Fake == nil {
			return atMostEvery(realCloudInterval, r.now, list)
		}
		return list
	}
	return nil
}

func (r *run) standIns() []standin.StandIn {
	list := shootmachines.StandIns()
	if r.Cloud.Fake == nil {
		return list // whoever has started a real cloud knows what is real in it
	}
	return append(list, standin.StandIn{
		Name:   "OpenStack: " + r.Cloud.Name(),
		Reason: "the fake keeps the state of all services, so that a run needs no installed OpenStack; the same steps run with a real one",
	})
}

// stop ends what the run has started. It changes nothing in the landscape.
func (r *run) stop() error {
	var failures []error
	for _, s := range r.seeds {
		s.machines.Stop()
	}
	r.pods.stop()
	if r.recorder != nil {
		failures = append(failures, r.recorder.Stop())
	}
	for _, file := range slices.Backward(r.files) {
		failures = append(failures, file.Close())
	}
	return errors.Join(failures...)
}

// linef prints a line for people.
func (r *run) linef(format string, args ...any) {
	prefix := ""
	if r.prefix != "" {
		prefix = "  [" + r.prefix + "]"
	}
	_, _ = fmt.Fprintf(r.Out, prefix+format+"\n", args...)
}
