package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/gardener"
	"github.com/trellis-garden/trellis/e2e/internal/lifecycle"
)

// kubernetesVersion is that of the programs of package assets, but for those of the previous version.
const kubernetesVersion = "1.36.3"

// describeSteps lists the steps for the help page.
func describeSteps() string {
	var lines strings.Builder
	for _, step := range lifecycle.Steps() {
		_, _ = fmt.Fprintf(&lines, "  %-20s %s\n", step.Name, step.Sentence)
	}
	return lines.String()
}

// runSteps takes the steps of the Shoot's life.
func (l *landscape) runSteps(ctx context.Context) error {
	versions, err := l.kubernetesVersions()
	if err != nil {
		return err
	}
	_, err = lifecycle.Run(ctx, lifecycle.Landscape{
		Garden: l.garden.Kubeconfig, GardenAudits: []audit.Log{l.garden.Audit}, Seeds: l.lifecycleSeeds(), Cloud: l.shootsCloud, Dir: l.dir,
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
