package landscape_test

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/charts/registration/landscape"
)

func seed(change ...func(*gardencorev1beta1.Seed)) gardencorev1beta1.Seed {
	s := gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "eu1"}}
	s.Spec.Provider.Type = "seedcloud"
	for _, f := range change {
		f(&s)
	}
	return s
}

func shoot(change ...func(*gardencorev1beta1.Shoot)) gardencorev1beta1.Shoot {
	s := gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "cat"}}
	s.Spec.SeedName = new("eu1")
	s.Spec.Provider.Type = "openstack"
	s.Spec.Networking = &gardencorev1beta1.Networking{Type: new("calico")}
	s.Spec.Provider.Workers = []gardencorev1beta1.Worker{{
		Name: "pool", Machine: gardencorev1beta1.Machine{Image: &gardencorev1beta1.ShootMachineImage{Name: "gardenlinux"}},
	}}
	for _, f := range change {
		f(&s)
	}
	return s
}

func registration(name string, resources ...gardencorev1beta1.ControllerResource) gardencorev1beta1.ControllerRegistration {
	return gardencorev1beta1.ControllerRegistration{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       gardencorev1beta1.ControllerRegistrationSpec{Resources: resources},
	}
}

func extension(typ string, enabledFor ...gardencorev1beta1.ClusterType) gardencorev1beta1.ControllerResource {
	return gardencorev1beta1.ControllerResource{Kind: "Extension", Type: typ, AutoEnable: enabledFor}
}

// selfHosted is the shoot whose cluster the seed is.
func selfHosted(s *gardencorev1beta1.Shoot) {
	s.Namespace, s.Name = "garden", "eu1"
	s.Spec.SeedName = nil
	s.Spec.Provider.Type = "metal"
	s.Spec.Provider.Workers[0].ControlPlane = &gardencorev1beta1.WorkerControlPlane{
		Backup:   &gardencorev1beta1.Backup{Provider: "metalstore"},
		Exposure: &gardencorev1beta1.Exposure{Extension: &gardencorev1beta1.ExtensionExposure{}},
	}
}

func TestRequired(t *testing.T) {
	const forItself = "ControlPlane/seedcloud Infrastructure/seedcloud Worker/seedcloud"
	primary := func(typ string) []gardencorev1beta1.DNSProvider {
		return []gardencorev1beta1.DNSProvider{{Type: new("ignored")}, {Type: new(typ), Primary: new(true)}}
	}
	for sentence, c := range map[string]struct {
		garden landscape.Garden
		seed   gardencorev1beta1.Seed
		want   string
	}{
		"a seed wants its own provider": {seed: seed(), want: forItself},
		"a seed that is being deleted wants nothing for itself, but its shoots do": {
			seed: seed(func(s *gardencorev1beta1.Seed) { s.DeletionTimestamp = new(metav1.Now()) }),
			garden: landscape.Garden{Shoots: []gardencorev1beta1.Shoot{
				shoot(func(s *gardencorev1beta1.Shoot) { s.Spec.Provider.Workers = nil }),
			}},
			want: "ControlPlane/seedcloud",
		},
		"a seed with an ingress domain wants its DNS provider": {
			seed: seed(func(s *gardencorev1beta1.Seed) {
				s.Spec.DNS.Provider = &gardencorev1beta1.SeedDNSProvider{Type: "designate"}
			}),
			want: forItself + " DNSRecord/designate",
		},
		"extensions of a seed, named, disabled, and enabled for all": {
			seed: seed(func(s *gardencorev1beta1.Seed) {
				s.Spec.Extensions = []gardencorev1beta1.Extension{{Type: "named"}, {Type: "unwanted", Disabled: new(true)}}
			}),
			garden: landscape.Garden{Registrations: []gardencorev1beta1.ControllerRegistration{
				registration("all", extension("unwanted", gardencorev1beta1.ClusterTypeSeed),
					extension("everywhere", gardencorev1beta1.ClusterTypeSeed, gardencorev1beta1.ClusterTypeShoot),
					extension("shoots", gardencorev1beta1.ClusterTypeShoot)),
			}},
			want: forItself + " Extension/everywhere Extension/named",
		},
		"a shoot wants its provider, its network and its operating system": {
			seed:   seed(),
			garden: landscape.Garden{Shoots: []gardencorev1beta1.Shoot{shoot()}},
			want: forItself + " ControlPlane/openstack Infrastructure/openstack Network/calico OperatingSystemConfig/gardenlinux " +
				"Worker/openstack",
		},
		"a shoot without workers wants the control plane of the seed's provider": {
			seed:   seed(func(s *gardencorev1beta1.Seed) { s.DeletionTimestamp = new(metav1.Now()) }),
			garden: landscape.Garden{Shoots: []gardencorev1beta1.Shoot{shoot(func(s *gardencorev1beta1.Shoot) { s.Spec.Provider.Workers = nil })}},
			want:   "ControlPlane/seedcloud",
		},
		"a shoot that leaves the seed still counts": {
			seed: seed(func(s *gardencorev1beta1.Seed) { s.DeletionTimestamp = new(metav1.Now()) }),
			garden: landscape.Garden{Shoots: []gardencorev1beta1.Shoot{shoot(func(s *gardencorev1beta1.Shoot) {
				s.Spec.SeedName, s.Status.SeedName, s.Spec.Provider.Workers = new("us1"), new("eu1"), nil
			})}},
			want: "ControlPlane/seedcloud",
		},
		"a shoot elsewhere does not": {
			seed:   seed(),
			garden: landscape.Garden{Shoots: []gardencorev1beta1.Shoot{shoot(func(s *gardencorev1beta1.Shoot) { s.Spec.SeedName = new("us1") })}},
			want:   forItself,
		},
		"container runtimes": {
			seed: seed(),
			garden: landscape.Garden{Shoots: []gardencorev1beta1.Shoot{shoot(func(s *gardencorev1beta1.Shoot) {
				s.Spec.Provider.Type = "seedcloud"
				s.Spec.Provider.Workers[0].CRI = &gardencorev1beta1.CRI{
					Name: "containerd", ContainerRuntimes: []gardencorev1beta1.ContainerRuntime{{Type: "gvisor"}},
				}
			})}},
			want: "ContainerRuntime/gvisor " + forItself + " Network/calico OperatingSystemConfig/gardenlinux",
		},
		"the backup of the seed is that of its shoots": {
			seed: seed(func(s *gardencorev1beta1.Seed) { s.Spec.Backup = &gardencorev1beta1.Backup{Provider: "swift"} }),
			garden: landscape.Garden{Shoots: []gardencorev1beta1.Shoot{
				shoot(func(s *gardencorev1beta1.Shoot) { s.Spec.Provider.Workers = nil }),
			}},
			want: "BackupBucket/swift BackupEntry/swift " + forItself,
		},
		"the backup of a seed without shoots": {
			seed: seed(func(s *gardencorev1beta1.Seed) { s.Spec.Backup = &gardencorev1beta1.Backup{Provider: "swift"} }),
			want: forItself,
		},
		"buckets of the seed, and entries in buckets of any seed that are there": {
			seed: seed(),
			garden: landscape.Garden{
				BackupBuckets: []gardencorev1beta1.BackupBucket{
					bucket("here", "eu1", "swift"), bucket("there", "us1", "s3"),
				},
				BackupEntries: []gardencorev1beta1.BackupEntry{
					entry("moved", "eu1", "there"), entry("lost", "eu1", "gone"), entry("elsewhere", "us1", "here"),
				},
			},
			want: "BackupBucket/swift BackupEntry/s3 " + forItself,
		},
		"extensions of shoots, named, disabled, enabled for all, and not for those without workers": {
			seed: seed(),
			garden: landscape.Garden{
				Registrations: []gardencorev1beta1.ControllerRegistration{registration("all",
					extension("unwanted", gardencorev1beta1.ClusterTypeShoot), extension("workers", gardencorev1beta1.ClusterTypeShoot),
					gardencorev1beta1.ControllerResource{
						Kind: "Extension", Type: "all", AutoEnable: []gardencorev1beta1.ClusterType{gardencorev1beta1.ClusterTypeShoot}, WorkerlessSupported: new(true),
					})},
				Shoots: []gardencorev1beta1.Shoot{shoot(func(s *gardencorev1beta1.Shoot) {
					s.Spec.Provider.Workers = nil
					s.Spec.Extensions = []gardencorev1beta1.Extension{{Type: "named"}, {Type: "unwanted", Disabled: new(true)}}
				})},
			},
			want: forItself + " Extension/all Extension/named",
		},
		"the DNS provider that a shoot names": {
			seed: seed(),
			garden: landscape.Garden{Shoots: []gardencorev1beta1.Shoot{shoot(func(s *gardencorev1beta1.Shoot) {
				s.Spec.Provider.Workers = nil
				s.Spec.DNS = &gardencorev1beta1.DNS{Domain: new("cat.example.org"), Providers: primary("designate")}
			})}},
			want: forItself + " DNSRecord/designate",
		},
		"no DNS provider": {
			seed: seed(),
			garden: landscape.Garden{
				Shoots: []gardencorev1beta1.Shoot{shoot(func(s *gardencorev1beta1.Shoot) {
					s.Spec.Provider.Workers = nil
					s.Spec.DNS = &gardencorev1beta1.DNS{Domain: new("cat.example.org"), Providers: primary("unmanaged")}
				})},
				Domains: map[string]landscape.Domains{"eu1": {Internal: &landscape.Domain{Name: "internal.example.org", Provider: "unmanaged"}}},
			},
			want: forItself,
		},
		"the internal domain, and the default domain that a shoot is in": {
			seed: seed(),
			garden: landscape.Garden{
				Shoots: []gardencorev1beta1.Shoot{shoot(func(s *gardencorev1beta1.Shoot) {
					s.Spec.Provider.Workers = nil
					s.Spec.DNS = &gardencorev1beta1.DNS{Domain: new("cat.dev.example.org")}
				})},
				Domains: map[string]landscape.Domains{"eu1": {
					Internal: &landscape.Domain{Name: "internal.example.org", Provider: "route53"},
					Defaults: []landscape.Domain{{Name: "ev.example.org", Provider: "no-suffix"}, {Name: "example.org", Provider: "designate"}},
				}},
			},
			want: forItself + " DNSRecord/designate DNSRecord/route53",
		},
		"a seed that is a self-hosted shoot wants what the shoot alone wants from the shoot": {
			seed: seed(func(s *gardencorev1beta1.Seed) {
				s.Labels = map[string]string{"seed.gardener.cloud/self-hosted-shoot-cluster": "true"}
			}),
			garden: landscape.Garden{
				Shoots: []gardencorev1beta1.Shoot{shoot(selfHosted), shoot()},
				BackupBuckets: []gardencorev1beta1.BackupBucket{
					bucket("shared", "eu1", "swift"),
					{ObjectMeta: metav1.ObjectMeta{Name: "own"}, Spec: gardencorev1beta1.BackupBucketSpec{
						SeedName: new("eu1"), ShootRef: &corev1.ObjectReference{Namespace: "garden", Name: "eu1"},
						Provider: gardencorev1beta1.BackupBucketProvider{Type: "metalstore"},
					}},
				},
			},
			want: "BackupBucket/swift " + forItself +
				" ControlPlane/openstack Infrastructure/openstack Network/calico OperatingSystemConfig/gardenlinux Worker/openstack",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			requirements := landscape.Required(&c.garden, &c.seed)
			var got []string
			for _, id := range requirements.IDs() {
				got = append(got, id.String())
				assert.NotEmpty(t, requirements[id], "somebody wants it")
			}
			assert.ElementsMatch(t, fields(c.want), got)
		})
	}
}

func TestRequired_SelfHostedShoot(t *testing.T) {
	s := shoot(selfHosted, func(s *gardencorev1beta1.Shoot) { s.Spec.DNS = &gardencorev1beta1.DNS{Domain: new("eu1.example.org")} })
	var got []string
	for _, id := range landscape.RequiredByShoot(&s, nil, nil, landscape.Domains{}) {
		got = append(got, id.String())
	}
	assert.ElementsMatch(t, fields("BackupBucket/metalstore BackupEntry/metalstore ControlPlane/metal Infrastructure/metal Worker/metal "+
		"Network/calico OperatingSystemConfig/gardenlinux SelfHostedShootExposure/metal"), got)
}
