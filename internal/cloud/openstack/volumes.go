package openstack

import (
	"context"
	"net/url"
)

// Volume is a Cinder volume.
type Volume struct {
	ID       string            `json:"id"`
	Name     string            `json:"name"`
	Status   string            `json:"status"` // e.g. available, in-use, deleting, error
	Size     int               `json:"size"`   // GiB
	Metadata map[string]string `json:"metadata"`
	// CreatedAt is zero if the cloud does not report it.
	CreatedAt Time `json:"created_at"`
}

// VolumeFilter selects volumes; all given criteria must match.
type VolumeFilter struct{ Name string }

// HasVolumes reports whether the cloud offers Cinder in the session's region. It makes no call.
func (s *Session) HasVolumes() bool { return s.has(blockStorageService) }

func (s *Session) volumes() resource[Volume] {
	return resource[Volume]{
		session: s, service: blockStorageService, path: "volumes", detail: "/detail", singular: "volume", plural: "volumes",
	}
}

// ListVolumes returns the volumes of the session's project that match the filter. Without Cinder it fails, see IsServiceMissing.
func (s *Session) ListVolumes(ctx context.Context, filter VolumeFilter) ([]Volume, error) {
	return s.volumes().list(ctx, filter)
}

// DeleteVolume starts the deletion of a volume, which is complete when ListVolumes does not return it any more. It fails with cloud.NotFound
// if there is none. A volume that is in use is rejected with 400, which stays cloud.Unknown.
func (s *Session) DeleteVolume(ctx context.Context, id string) error {
	return s.volumes().remove(ctx, id, nil)
}

func (f VolumeFilter) query() url.Values {
	q := query{}
	q.text("name", f.Name)
	return url.Values(q)
}

func (f VolumeFilter) matches(v Volume) bool { return emptyOrEqual(f.Name, v.Name) }
