package openstack

import (
	"testing"

	"github.com/stretchr/testify/assert"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controlplane/csi"
	"github.com/trellis-garden/trellis/internal/golden"
)

func TestStorageClasses(t *testing.T) {
	folder, ours := golden.Open(t, "testdata/storageclasses"), storageInputs(false)
	folder.Check(t, "builtin.yaml", golden.Manifest(t, csi.Classes(ours.storageClasses(), ours.snapshotClasses())))

	profiles := storageInputs(false)
	profiles.profile.StorageClasses = []openstackv1alpha1.StorageClassDefinition{
		{
			Name: "fast", Default: new(true), Provisioner: new("cinder.csi.openstack.org"), Parameters: map[string]string{"type": "fast", "availability": "nova"},
			Annotations: map[string]string{"example.org/price": "high"}, Labels: map[string]string{"tier": "1"},
			ReclaimPolicy: new("Retain"), VolumeBindingMode: new("WaitForFirstConsumer"),
		},
		{Name: "plain", Default: new(false), Provisioner: new("")},
		{Name: "foreign", Provisioner: new("example.csi.example.org")},
	}
	folder.Check(t, "profile.yaml", golden.Manifest(t, csi.Classes(profiles.storageClasses(), nil)))
}

func TestStorageClasses_OneDefault(t *testing.T) {
	var defaults []string
	for _, class := range storageInputs(false).storageClasses() {
		if class.Annotations[csi.DefaultStorageClassAnnotation] == "true" {
			defaults = append(defaults, class.Name)
		}
	}
	assert.Equal(t, []string{"default"}, defaults)
}
