package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"time"

	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/gardener"
	"github.com/trellis-garden/trellis/e2e/internal/lifecycle"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

const (
	// kubernetesVersion is that of the programs of package assets, but for those of the previous version.
	kubernetesVersion = "1.36.3"
	// cloudPort is where the cloud listens.
	cloudPort = "5000"
	// The fake takes as long as a fast cloud.
	serverBuild, serverDelete = 3 * time.Second, 2 * time.Second
)

// describeSteps lists the steps for the help page.
func describeSteps() string {
	var lines strings.Builder
	for _, step := range lifecycle.Steps() {
		_, _ = fmt.Fprintf(&lines, "  %-20s %s\n", step.Name, step.Sentence)
	}
	return lines.String()
}

// runSteps starts the cloud and takes the steps of the Shoot's life.
func (l *landscape) runSteps(ctx context.Context) (err error) {
	cloud, err := openstack.NewFakeAt(
		net.JoinHostPort(gardener.CloudAddress(), cloudPort),
		fake.WithTransition(fake.ServerBuild, fake.Transition{After: serverBuild}), fake.WithTransition(fake.ServerDelete, fake.Transition{After: serverDelete}),
	)
	if err != nil {
		return fmt.Errorf("starting the cloud: %w", err)
	}
	defer func() { err = errors.Join(err, cloud.Close()) }()
	l.report.Linef("cloud: %s at %s", l.cloud, cloud.AuthURL())
	versions, err := l.kubernetesVersions()
	if err != nil {
		return err
	}
	_, err = lifecycle.Run(ctx, lifecycle.Landscape{
		Garden: l.garden.Kubeconfig, GardenAudits: []audit.Log{l.garden.Audit}, Seeds: l.lifecycleSeeds(), Cloud: cloud, Dir: l.dir,
		Registrations: registrations(), Versions: versions, MachineImage: gardener.MachineImage, HasAdmission: true,
		StandIns: l.standIns.list(), Out: l.report.out,
	}, l.steps)
	return err
}

func (l *landscape) lifecycleSeeds() []lifecycle.Seed {
	var seeds []lifecycle.Seed
	for _, seed := range l.seeds {
		seeds = append(seeds, lifecycle.Seed{
			Name: seed.Name, Kubeconfig: seed.Kubeconfig, Audits: []audit.Log{seed.Audit}, Logs: filepath.Join(seed.Dir, podsFolder),
			ShootAudits: func(technicalID string) []audit.Log {
				return shootAudits(filepath.Join(seed.Dir, podsFolder, technicalID))
			},
		})
	}
	return seeds
}

// shootAudits are the logs of a shoot's API servers, which have the audit logs in them.
func shootAudits(pods string) []audit.Log {
	const server = "kube-apiserver"
	paths, err := filepath.Glob(filepath.Join(pods, server+"-*", server+".log"))
	if err != nil {
		return nil // only a malformed pattern is an error
	}
	logs := make([]audit.Log, 0, len(paths))
	for _, path := range paths {
		logs = append(logs, audit.Log(path))
	}
	return logs
}
