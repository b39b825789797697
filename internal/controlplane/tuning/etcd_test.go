package tuning

import (
	"testing"

	druidcorev1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func quantity(text string) *resource.Quantity { return new(resource.MustParse(text)) }

func etcd(name string, class *string, capacity *resource.Quantity) *druidcorev1alpha1.Etcd {
	return &druidcorev1alpha1.Etcd{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--one", Name: name},
		Spec:       druidcorev1alpha1.EtcdSpec{StorageClass: class, StorageCapacity: capacity},
	}
}

func TestTuneEtcd(t *testing.T) {
	storage := EtcdStorage{
		Main:   EtcdVolume{ClassName: new("fast"), Capacity: quantity("30Gi")},
		Events: EtcdVolume{ClassName: new("")},
	}
	for sentence, test := range map[string]struct {
		etcd, old *druidcorev1alpha1.Etcd
		storage   EtcdStorage
		want      *druidcorev1alpha1.Etcd
	}{
		"the one for everything is born with class and size": {
			etcd: etcd("etcd-main", nil, quantity("25Gi")), storage: storage, want: etcd("etcd-main", new("fast"), quantity("30Gi")),
		},
		"the one for events has its own, and a size that nobody chose is Gardener's": {
			etcd: etcd("etcd-events", nil, quantity("10Gi")), storage: storage, want: etcd("etcd-events", new(""), quantity("10Gi")),
		},
		"without any choice all is Gardener's": {
			etcd: etcd("etcd-main", nil, quantity("25Gi")), want: etcd("etcd-main", nil, quantity("25Gi")),
		},
		"one that upstream's extension made keeps its class when gardenlet names none": {
			etcd: etcd("etcd-main", nil, quantity("10Gi")), old: etcd("etcd-main", new(""), quantity("10Gi")),
			storage: storage, want: etcd("etcd-main", new(""), quantity("10Gi")),
		},
		"one that was born without a class stays without": {
			etcd: etcd("etcd-main", nil, quantity("25Gi")), old: etcd("etcd-main", nil, quantity("25Gi")),
			storage: storage, want: etcd("etcd-main", nil, quantity("25Gi")),
		},
		"another class that somebody asks for is validated by the API server": {
			etcd: etcd("etcd-main", new("slow"), quantity("25Gi")), old: etcd("etcd-main", new("fast"), quantity("25Gi")),
			storage: storage, want: etcd("etcd-main", new("slow"), quantity("25Gi")),
		},
		"one that upstream's extension made keeps its size whatever gardenlet writes": {
			etcd: etcd("etcd-main", nil, quantity("25Gi")), old: etcd("etcd-main", new(""), quantity("10Gi")),
			storage: storage, want: etcd("etcd-main", new(""), quantity("10Gi")),
		},
		"one of another name is somebody else's": {
			etcd: etcd("virtual-garden-etcd-main", nil, nil), storage: storage, want: etcd("virtual-garden-etcd-main", nil, nil),
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			for range 2 {
				TuneEtcd(test.etcd, test.old, test.storage)
				assert.Empty(t, cmp.Diff(test.want, test.etcd))
			}
		})
	}
	assert.Equal(t, "fast", *storage.Main.ClassName)
}
