package openstack

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/golden"
)

const (
	oldestMinor = "1.32"
	newestMinor = "1.36"
)

// kubernetesVersions returns versions with different images, by minor version.
func kubernetesVersions() map[string]string {
	return map[string]string{oldestMinor: "1.32.9", newestMinor: "1.36.3"}
}

// checkVersion compares the objects for a minor version of Kubernetes with a golden file. Those for the oldest are a diff against those for the newest.
func checkVersion(t *testing.T, folder *golden.Folder, minor, name string, objects []client.Object) {
	t.Helper()
	text := golden.Manifest(t, objects)
	if minor == newestMinor {
		folder.Check(t, minor+"-"+name+".yaml", text)
		return
	}
	folder.CheckDiff(t, minor+"-"+name+".diff", newestMinor+"-"+name+".yaml", text)
}
