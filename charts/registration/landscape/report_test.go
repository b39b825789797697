package landscape_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	trellis "github.com/trellis-garden/trellis/charts/registration"
	"github.com/trellis-garden/trellis/charts/registration/landscape"
)

var update = flag.Bool("update", false, "write golden files anew")

// served is a garden with one seed on which everything that one shoot wants is registered, and ready.
func served(change ...func(*landscape.Garden)) *landscape.Garden {
	g := &landscape.Garden{
		Seeds:  []gardencorev1beta1.Seed{seed(func(s *gardencorev1beta1.Seed) { s.Spec.Provider.Type = "openstack" })},
		Shoots: []gardencorev1beta1.Shoot{shoot()},
		Registrations: []gardencorev1beta1.ControllerRegistration{
			registers("infrastructure", "Infrastructure/openstack"),
			registers("controlplane", "ControlPlane/openstack"),
			registers("network", "Network/calico"),
			registers("worker", "Worker/openstack"),
			registers("os-gardenlinux", "OperatingSystemConfig/gardenlinux"),
		},
	}
	for i := range g.Registrations {
		r := &g.Registrations[i]
		if r.Name != "os-gardenlinux" {
			r.Labels = map[string]string{trellis.LabelPartOf: trellis.PartOf}
		}
		g.Installations = append(g.Installations, installed(r.Name, "TTF"))
	}
	for _, f := range change {
		f(g)
	}
	return g
}

func without(g *landscape.Garden, registration string) {
	keep := g.Registrations[:0]
	for _, r := range g.Registrations {
		if r.Name != registration {
			keep = append(keep, r)
		}
	}
	g.Registrations = keep
	installations := g.Installations[:0]
	for _, i := range g.Installations {
		if i.Spec.RegistrationRef.Name != registration {
			installations = append(installations, i)
		}
	}
	g.Installations = installations
}

// withAWS makes the seed one of type aws, whose infrastructures Trellis serves beside another extension.
func withAWS(others string) func(*landscape.Garden) {
	return func(g *landscape.Garden) {
		g.Seeds[0].Spec.Provider.Type = "aws"
		g.Registrations[0].Spec.Resources = registers("infrastructure", "Infrastructure/openstack Infrastructure/aws").Spec.Resources
		g.Registrations = append(g.Registrations, registers("provider-aws", others))
		g.Installations = append(g.Installations, installed("provider-aws", "TTF"))
	}
}

func TestInspect(t *testing.T) {
	for sentence, c := range map[string]struct {
		change    func(*landscape.Garden)
		ok, ready bool
		// says are beginnings of problems and notes.
		wantText []string
	}{
		"everything is there": {change: func(*landscape.Garden) {}, ok: true, ready: true},
		"a kind and type that nobody registers": {
			change: func(g *landscape.Garden) { without(g, "os-gardenlinux") },
			wantText: []string{"OperatingSystemConfig/gardenlinux is registered by nobody: until it is, Gardener installs, updates and removes nothing " +
				"on this seed; register an extension for it. Wanted by shoot garden-dev/cat"},
		},
		"the same type in other letters, which Gardener does not take for the same": {
			change:   func(g *landscape.Garden) { g.Registrations[2].Spec.Resources[0].Type = "Calico" },
			wantText: []string{"Network/calico is registered by nobody", "also installed, though nothing above is theirs: network"},
		},
		"nothing but a secondary": {
			change:   func(g *landscape.Garden) { g.Registrations[3].Spec.Resources[0].Primary = new(false) },
			ready:    true,
			wantText: []string{"Worker/openstack is registered by secondaries only (worker): nobody fulfils its objects; register a primary"},
		},
		"a secondary beside the primary": {
			change: func(g *landscape.Garden) {
				observer := deployed(registers("a-worker-observer", "~Worker/openstack"))
				observer.Spec.Deployment.SeedSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"stage": "canary"}}
				g.Registrations = append(g.Registrations, observer)
				g.Deployments = []gardencorev1.ControllerDeployment{{ObjectMeta: metav1.ObjectMeta{Name: "a-worker-observer"}}}
			},
			ok: true, ready: true,
		},
		"two primaries": {
			change: func(g *landscape.Garden) {
				g.Registrations = append(g.Registrations, registers("provider-openstack", "Infrastructure/openstack Bastion/openstack Worker/openstack"))
				g.Installations = append(g.Installations, installed("provider-openstack", "TTF"))
			},
			ready: true,
			wantText: []string{
				"Infrastructure/openstack has 2 primaries, which would fight over the same objects: infrastructure, provider-openstack; " +
					"take it out of all registrations but one",
				"Worker/openstack has 2 primaries",
			},
		},
		"a type of which Trellis serves one kind, and another extension the rest": {change: withAWS("ControlPlane/aws Worker/aws"), ok: true, ready: true},
		"a type of which Trellis serves one kind, and another extension all": {
			change: withAWS("ControlPlane/aws Infrastructure/aws Worker/aws"), ready: true,
			wantText: []string{"Infrastructure/aws has 2 primaries, which would fight over the same objects: infrastructure, provider-aws"},
		},
		"a type of which Trellis serves one kind, and nobody the rest": {
			change: withAWS("Bastion/aws"), ready: false,
			wantText: []string{"ControlPlane/aws is registered by nobody", "Worker/aws is registered by nobody", "also installed"},
		},
		"two primaries that no seed wants yet": {
			change: func(g *landscape.Garden) {
				g.Registrations = append(g.Registrations, registers("cilium", "Network/cilium"), registers("another", "Network/cilium"))
			},
			ready: true, wantText: []string{"Network/cilium has 2 primaries, which would fight over the same objects: another, cilium"},
		},
		"the only primary is being deleted": {
			change: func(g *landscape.Garden) { g.Registrations[0].DeletionTimestamp = new(metav1.Now()) },
			ready:  true, wantText: []string{"Infrastructure/openstack is registered by infrastructure only, which is being deleted"},
		},
		"a deployment that is not there": {
			change: func(g *landscape.Garden) { g.Registrations[2] = deployed(g.Registrations[2]) },
			ready:  true,
			wantText: []string{"registration network refers to ControllerDeployment network, which is not there: until it is, Gardener " +
				"installs, updates and removes nothing on this seed; apply it"},
		},
		"an installation of a registration that is not there": {
			change: func(g *landscape.Garden) { g.Installations = append(g.Installations, installed("gone", "TTF")) },
			ready:  true, wantText: []string{"ControllerInstallation gone-x2k4p is of registration gone, which is not there", "also installed"},
		},
		"one that is not installed yet":    {change: func(g *landscape.Garden) { g.Installations[0] = installed("infrastructure", "---") }, ok: true},
		"one that is rolling out":          {change: func(g *landscape.Garden) { g.Installations[0] = installed("infrastructure", "TTT") }, ok: true},
		"one that is unhealthy":            {change: func(g *landscape.Garden) { g.Installations[0] = installed("infrastructure", "TFF") }, ok: true},
		"one that was registered just now": {change: func(g *landscape.Garden) { g.Installations = g.Installations[1:] }, ok: true},
		"one that Gardener deletes and wants": {
			change: deleteFirstInstallation,
			wantText: []string{"infrastructure is wanted, and its installation infrastructure-x2k4p is still being deleted: until it is gone, " +
				"Gardener installs, updates and removes nothing on this seed"},
		},
		"one that is everywhere by its policy": {
			change: another("Always", installed("another", "TTF")),
			ok:     true, ready: true, wantText: []string{"also installed, though nothing above is theirs: another (Always)"},
		},
		"one of a type of its own, which its operator serves": {
			change: func(g *landscape.Garden) { setValidCondition(g, "True", "RegistrationValid", "") }, ok: true, ready: true,
		},
		"one of a type of its own, which has an error": {
			change: func(g *landscape.Garden) {
				setValidCondition(g, "False", "ValuesInvalid", "values: additional property x")
			},
			ok: true, ready: true, wantText: []string{"infrastructure is not said to be valid (ValuesInvalid): values: additional property x"},
		},
		"one of a type of its own, whose seed the operator does not reach": {
			change: func(g *landscape.Garden) { setValidCondition(g, "Unknown", "SeedUnreachable", "no answer") },
			ok:     true, ready: true, wantText: []string{"infrastructure is not said to be valid (SeedUnreachable): no answer"},
		},
		"one of a type of its own, which nobody serves": {
			change: func(g *landscape.Garden) { setValidCondition(g, "", "", "") },
			ok:     true, ready: true, wantText: []string{"infrastructure is of type trellis, and no operator for that type says anything of its " +
				"installation; let one serve this seed, or apply another form of the registration"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			report, err := landscape.Inspect(served(c.change))
			require.NoError(t, err)
			assert.Equal(t, c.ok, report.OK(), "ok")
			assert.Equal(t, c.ready, report.Ready(), "ready")

			got := append(append(report.Problems, report.Seeds[0].Problems...), report.Seeds[0].Notes...)
			require.Len(t, got, len(c.wantText), strings.Join(got, "\n"))
			for i, want := range c.wantText {
				assert.True(t, strings.HasPrefix(got[i], want), "%q", got[i])
			}
		})
	}
}

// setValidCondition makes the first registration one that gardenlet leaves alone, with what an operator says of its installation, if anything.
func setValidCondition(g *landscape.Garden, valid gardencorev1beta1.ConditionStatus, reason, message string) {
	g.Registrations[0] = deployed(g.Registrations[0])
	g.Deployments = append(g.Deployments, gardencorev1.ControllerDeployment{ObjectMeta: metav1.ObjectMeta{
		Name: g.Registrations[0].Name, Annotations: map[string]string{gardencorev1.MigrationControllerDeploymentType: "trellis"},
	}})
	if valid != "" {
		status := &g.Installations[0].Status
		status.Conditions = append(status.Conditions, gardencorev1beta1.Condition{
			Type: gardencorev1beta1.ControllerInstallationValid, Status: valid, Reason: reason, Message: message,
		})
	}
}

func deleteFirstInstallation(g *landscape.Garden) {
	g.Installations[0].DeletionTimestamp = new(metav1.Now())
}

func TestInspect_SomeSeeds(t *testing.T) {
	g := served(func(g *landscape.Garden) {
		g.Seeds = append(g.Seeds, seed(func(s *gardencorev1beta1.Seed) { s.Name = "asia1" }))
	})
	all, err := landscape.Inspect(g)
	require.NoError(t, err)
	require.Len(t, all.Seeds, 2)
	assert.Equal(t, "asia1", all.Seeds[0].Name)
	assert.False(t, all.OK())

	one, err := landscape.Inspect(g, "eu1")
	require.NoError(t, err)
	require.Len(t, one.Seeds, 1)
	assert.True(t, one.OK())

	_, err = landscape.Inspect(g, "eu1", "eu2")
	assert.EqualError(t, err, "there is no seed eu2 in this garden")
}

// broken has one of everything that can be printed.
func broken(g *landscape.Garden) {
	g.Seeds = append(g.Seeds, seed(func(s *gardencorev1beta1.Seed) { s.Name, s.DeletionTimestamp = "old1", new(metav1.Now()) }))
	for _, name := range []string{"dog", "emu"} {
		g.Shoots = append(g.Shoots, shoot(func(s *gardencorev1beta1.Shoot) {
			s.Name = name
			s.Spec.Provider.Workers[0].Machine.Image.Name = "ubuntu"
		}))
	}
	g.Registrations = append(g.Registrations, registers("provider-openstack", "Worker/openstack Bastion/openstack"),
		registers("network-observer", "~Network/calico"))
	g.Installations[0] = installed("infrastructure", "TTT")
	g.Installations = append(g.Installations, installed("provider-openstack", "TFF"))
	g.Domains = map[string]landscape.Domains{"eu1": {Unknown: "DNSRecords of shoots: unknown."}}
	profile := gardencorev1beta1.CloudProfile{ObjectMeta: metav1.ObjectMeta{Name: "aws"}}
	profile.Spec.Type = "aws"
	profile.Spec.MachineImages = []gardencorev1beta1.MachineImage{{
		Name: "flatcar", Versions: []gardencorev1beta1.MachineImageVersion{{
			CRI: []gardencorev1beta1.CRI{{Name: "containerd", ContainerRuntimes: []gardencorev1beta1.ContainerRuntime{{Type: "kata"}}}},
		}},
	}}
	g.CloudProfiles = []gardencorev1beta1.CloudProfile{profile}
}

func TestPrint(t *testing.T) {
	for name, garden := range map[string]*landscape.Garden{"served": served(), "broken": served(broken), "empty": {}} {
		t.Run(name, func(t *testing.T) {
			report, err := landscape.Inspect(garden)
			require.NoError(t, err)
			var out bytes.Buffer
			require.NoError(t, landscape.Print(&out, report))

			golden := filepath.Join("testdata", name+".txt")
			if *update {
				require.NoError(t, os.MkdirAll("testdata", 0o755))
				require.NoError(t, os.WriteFile(golden, out.Bytes(), 0o600))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Empty(t, cmp.Diff(string(want), out.String()))
		})
	}
}
