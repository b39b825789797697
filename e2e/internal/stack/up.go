package stack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Install installs the packages that are missing, so that a later Up needs no network. It may run beside another cloud. The error is an
// *UnfitError if the machine cannot run the cloud.
func (s *Stack) Install(ctx context.Context) error {
	if needs := thisMachine().unmetRequirements(); len(needs) > 0 {
		return &UnfitError{needs}
	}
	release, err := s.layout.createAndAcquire()
	if err != nil {
		return err
	}
	defer release()
	return s.stepPackages(ctx)
}

// Up starts the daemons that are not running, and creates what is missing. What it has started when it fails stays recorded, so that Down stops
// it. The error is an *UnfitError if the machine cannot run the cloud.
//
// The directory cache keeps a dump of the empty databases for the next time; "" disables it.
func (s *Stack) Up(ctx context.Context, cache string) error {
	if needs := thisMachine().unmetRequirements(); len(needs) > 0 {
		return &UnfitError{needs}
	}
	there, err := s.layout.verify()
	if err != nil {
		return err
	}
	if !there {
		if needs := s.layout.portsInUse(); len(needs) > 0 {
			return &UnfitError{needs}
		}
	}
	release, err := s.layout.createAndAcquire()
	if err != nil {
		return err
	}
	defer release()
	if err := s.layout.cleanUpDead(ctx); err != nil {
		return err
	}
	if needs := s.layout.portsInUse(); len(needs) > 0 {
		return &UnfitError{needs}
	}

	s.screen.Heading("A real OpenStack in " + s.layout.dir)
	if err := s.stepPackages(ctx); err != nil {
		return err
	}
	if err := s.screen.Step("files", func(io.Writer) (string, error) { return s.layout.etc(), s.layout.writeFiles() }); err != nil {
		return err
	}
	if err := s.screen.Step("cloud", func(progress io.Writer) (string, error) { return s.layout.startCloud(ctx, cache, progress) }); err != nil {
		return err
	}
	return s.screen.Step("clouds.yaml", func(io.Writer) (string, error) { return s.Clouds(), s.layout.writeClouds(ctx) })
}

func (s *Stack) stepPackages(ctx context.Context) error {
	return s.screen.Step("packages", func(progress io.Writer) (string, error) { return s.installPackages(ctx, progress) })
}

// AddImage adds an image that has no content, for machines that nothing runs in. Up must have returned.
func (s *Stack) AddImage(ctx context.Context, name, architecture string) error {
	c, err := administrator(ctx)
	if err != nil {
		return err
	}
	return c.ensureImage(ctx, image{name, architecture})
}

// Ended returns an error that names the daemons that have ended since Up.
func (s *Stack) Ended() error { return s.layout.checkRunning(s.layout.daemons()) }

// portsInUse returns a sentence for each port that another process uses.
func (l layout) portsInUse() []string {
	// RabbitMQ opens two ports.
	isOurs := func(name string) bool { return l.isRunning(strings.TrimSuffix(name, "-cluster")) }
	return portsInUse(Ports(), isOurs, listens)
}

// cleanUpDead forgets daemons that have ended, and ends their remaining processes.
func (l layout) cleanUpDead(ctx context.Context) error {
	names, err := l.recordedNames()
	if err != nil {
		return err
	}
	return l.stopRecorded(ctx, serviceGracePeriod, slices.DeleteFunc(names, l.isRunning))
}

func (s *Stack) installPackages(ctx context.Context, progress io.Writer) (string, error) {
	if err := s.policy.restore(); err != nil { // an earlier run may have been killed while it installed
		return "", err
	}
	missing, err := missingPackages(ctx)
	if err != nil {
		return "", err
	}
	if len(missing) == 0 {
		return fmt.Sprintf("all %d are installed", len(packages())), nil
	}
	log := s.layout.log("apt")
	fmt.Fprintf(progress, "installing %s\n", strings.Join(missing, " "))
	fmt.Fprintf(progress, "follow it with: tail -f %s\n", log)
	return fmt.Sprintf("%d installed", len(missing)), install(ctx, missing, s.policy, log)
}

// startCloud starts all daemons and fills all services. It returns the number of daemons.
func (l layout) startCloud(ctx context.Context, cache string, progress io.Writer) (string, error) {
	begin := time.Now()
	running := map[string]bool{}
	for _, d := range l.daemons() {
		running[d.name] = l.isRunning(d.name)
	}
	ctx, stop := l.cancelOnExit(ctx)
	defer stop()
	err := runTasks(ctx, l.plan(cache, progress), func(name string, took time.Duration) {
		if running[name] || took < processPollInterval {
			return // it was so before
		}
		fmt.Fprintf(progress, "%5.1f s  %s (%.1f s)\n", time.Since(begin).Seconds(), name, took.Seconds())
	})
	if err != nil {
		return "", cmp.Or(context.Cause(ctx), err)
	}
	return fmt.Sprintf("%d daemons", len(l.daemons())), l.checkRunning(l.daemons())
}

// cancelOnExit returns a context that is canceled, with the reason as its cause, when a started daemon ends: waiting for it would be in vain.
func (l layout) cancelOnExit(ctx context.Context) (guarded context.Context, stop func()) {
	guarded, end := context.WithCancelCause(ctx)
	go func() {
		daemons := l.daemons()
		for pause(guarded, time.Second) == nil {
			started := slices.DeleteFunc(slices.Clone(daemons), func(d daemon) bool { _, found := l.recorded(d.name); return !found })
			if err := l.checkRunning(started); err != nil {
				end(err)
			}
		}
	}()
	return guarded, func() { end(nil) }
}

// checkRunning returns an error that names the daemons that are not running.
func (l layout) checkRunning(daemons []daemon) error {
	var all []error
	for _, d := range daemons {
		if !l.isRunning(d.name) {
			all = append(all, fmt.Errorf("%s has ended by itself%s", d.name, lastLines(l.log(d.name))))
		}
	}
	return errors.Join(all...)
}

// The tasks without a daemon.
const (
	taskInitialise = "files of MariaDB"
	taskDatabases  = "databases"
	taskIdentity   = "content of Keystone"
	taskNova       = "content of Nova"
	taskNeutron    = "content of Neutron"
	taskGlance     = "content of Glance"
)

// plan returns the tasks with their dependencies.
func (l layout) plan(cache string, progress io.Writer) []task {
	start := func(d daemon, needs ...string) task {
		return task{d.name, needs, func(ctx context.Context) error { return l.startAndWait(ctx, d) }}
	}
	fill := func(name string, do func(context.Context, *client) error, needs ...string) task {
		return task{name, append(needs, taskIdentity), func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, startTimeout)
			defer cancel()
			c, err := administrator(ctx)
			if err != nil {
				return err
			}
			return do(ctx, c)
		}}
	}
	needsOfStore := map[string][]string{"mariadb": {taskInitialise}, "rabbitmq": {"epmd"}}
	tasks := []task{
		{taskInitialise, nil, l.initialise},
		{taskDatabases, []string{"mariadb"}, func(ctx context.Context) error { return l.fillDatabases(ctx, cache, progress) }},
		start(l.keystone(), taskDatabases, "memcached"),
		{taskIdentity, []string{"keystone"}, fillKeystone},
		fill(taskNova, fillNova, "nova-api", "placement"),
		fill(taskNeutron, fillNeutron, "neutron"),
		fill(taskGlance, fillGlance, "glance"),
	}
	for _, d := range l.stores() {
		tasks = append(tasks, start(d, needsOfStore[d.name]...))
	}
	for _, d := range l.services() {
		needs := []string{"keystone", "rabbitmq"}
		if d.name == "nova-conductor" || d.name == "nova-scheduler" {
			needs = append(needs, taskIdentity) // they log in before they do anything else
		}
		tasks = append(tasks, start(d, needs...))
	}
	for _, d := range l.hypervisors() {
		tasks = append(tasks, start(d, "placement", "nova-conductor"))
	}
	return tasks
}
