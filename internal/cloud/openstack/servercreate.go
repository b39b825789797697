package openstack

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/trellis-garden/trellis/internal/cloud"
)

// ServerCreate is the request for a new server. It is connected to the ports first and then to the networks, in which Nova creates
// ports; it needs at least one of either. Zero values are the cloud's defaults.
type ServerCreate struct {
	Name, FlavorID, ImageID, KeyName, AvailabilityZone, ServerGroupID string

	UserData   []byte // in the form in which the server reads it
	Metadata   map[string]string
	PortIDs    []string
	NetworkIDs []string
	// SecurityGroups are names or IDs for the ports that Nova creates. Existing ports keep their own.
	SecurityGroups []string
	ConfigDrive    *bool
	// BootVolume makes the server boot from a volume that is filled from the image, instead of the flavor's local disk.
	BootVolume *ServerVolume
	// DataVolumes are blank. Like the boot volume they are deleted with the server.
	DataVolumes []ServerVolume
}

// ServerVolume is a volume that Nova creates for a server and deletes with it. An empty type is the cloud's default.
type ServerVolume struct {
	SizeGB int
	Type   string
}

// volumeTypeMicroversion is the first in which Nova creates a volume of a given type, supported since Stein. Only servers
// with such a volume use it; others use the first version, which every Nova has.
const volumeTypeMicroversion = "2.67"

// serverBody and the following types are the request body of a new server.
type serverBody struct {
	Server serverAttributes `json:"server"`
	Hints  *schedulerHints  `json:"os:scheduler_hints,omitempty"`
}

type schedulerHints struct {
	Group string `json:"group"`
}

type serverAttributes struct {
	Name             string            `json:"name"`
	FlavorID         string            `json:"flavorRef"`
	ImageID          string            `json:"imageRef,omitempty"`
	KeyName          string            `json:"key_name,omitempty"`
	AvailabilityZone string            `json:"availability_zone,omitempty"`
	UserData         string            `json:"user_data,omitempty"`
	Metadata         map[string]string `json:"metadata,omitempty"`
	Networks         []serverNetwork   `json:"networks"`
	SecurityGroups   []nameReference   `json:"security_groups,omitempty"`
	ConfigDrive      *bool             `json:"config_drive,omitempty"`
	Devices          []blockDevice     `json:"block_device_mapping_v2,omitempty"`
}

type serverNetwork struct {
	PortID    string `json:"port,omitempty"`
	NetworkID string `json:"uuid,omitempty"`
}

type nameReference struct {
	Name string `json:"name"`
}

type blockDevice struct {
	BootIndex           int    `json:"boot_index"` // 0 boots, -1 does not
	SourceType          string `json:"source_type"`
	DestinationType     string `json:"destination_type"`
	ImageID             string `json:"uuid,omitempty"`
	SizeGB              int    `json:"volume_size,omitempty"`
	VolumeType          string `json:"volume_type,omitempty"`
	DeleteOnTermination bool   `json:"delete_on_termination"`
}

// CreateServer starts the creation of a server and returns only its ID; GetServer returns its progress. It is never repeated
// if its effect is unknown. It fails with cloud.QuotaExceeded if a quota of the project is exceeded, and with
// cloud.Configuration if a volume has a type and the cloud does not support that.
func (s *Session) CreateServer(ctx context.Context, server ServerCreate) (Server, error) {
	if len(server.PortIDs)+len(server.NetworkIDs) == 0 {
		return Server{}, cloud.Errorf(cloud.Unknown, "a new server needs a port or a network")
	}
	var response struct {
		Server struct {
			ID string `json:"id"`
		} `json:"server"`
	}
	raw := json.RawMessage{}
	err := s.do(ctx, call{
		service: computeService, method: http.MethodPost, path: s.servers().path, microversion: server.microversion(),
		body: server.body(), response: &raw, noRetry: true,
	})
	if err != nil {
		return Server{}, s.explainServer(ctx, server, err)
	}
	if err := json.Unmarshal(raw, &response); err != nil || response.Server.ID == "" {
		return Server{}, cloud.Errorf(cloud.Unavailable, "the answer of the %s service to a new server lacks its ID", computeService)
	}
	return Server{ID: response.Server.ID}, nil
}

// explainServer determines the cause of Nova's rejection of a server.
func (s *Session) explainServer(ctx context.Context, server ServerCreate, err error) error {
	fault, ok := errors.AsType[*ResponseError](err)
	switch {
	case ok && fault.Status == http.StatusForbidden:
		return asQuotaError(err, s.exceededServerQuotas(ctx, server))
	case ok && fault.Status == http.StatusNotAcceptable && server.microversion() == volumeTypeMicroversion:
		return &cloud.Error{
			Kind: cloud.Configuration, Err: err,
			Message: "the cloud's compute service is too old to make a server's volumes of a given type: leave out the type",
		}
	default:
		return err
	}
}

func (c ServerCreate) microversion() string {
	typed := c.BootVolume != nil && c.BootVolume.Type != ""
	for _, v := range c.DataVolumes {
		typed = typed || v.Type != ""
	}
	if typed {
		return volumeTypeMicroversion
	}
	return ""
}

func (c ServerCreate) body() serverBody {
	body := serverBody{Server: serverAttributes{
		Name: c.Name, FlavorID: c.FlavorID, KeyName: c.KeyName, AvailabilityZone: c.AvailabilityZone,
		UserData: base64.StdEncoding.EncodeToString(c.UserData), Metadata: c.Metadata,
		ConfigDrive: c.ConfigDrive, Devices: c.devices(),
	}}
	if c.BootVolume == nil {
		body.Server.ImageID = c.ImageID
	}
	for _, id := range c.PortIDs {
		body.Server.Networks = append(body.Server.Networks, serverNetwork{PortID: id})
	}
	for _, id := range c.NetworkIDs {
		body.Server.Networks = append(body.Server.Networks, serverNetwork{NetworkID: id})
	}
	if len(c.NetworkIDs) > 0 {
		for _, name := range c.SecurityGroups {
			body.Server.SecurityGroups = append(body.Server.SecurityGroups, nameReference{name})
		}
	}
	if c.ServerGroupID != "" {
		body.Hints = &schedulerHints{Group: c.ServerGroupID}
	}
	return body
}

// devices returns a server's disks, or nil if the flavor's is the only one. A list must contain the disk from which the server
// boots, even the local one.
func (c ServerCreate) devices() []blockDevice {
	if c.BootVolume == nil && len(c.DataVolumes) == 0 {
		return nil
	}
	boot := blockDevice{SourceType: "image", DestinationType: "local", ImageID: c.ImageID, DeleteOnTermination: true}
	if c.BootVolume != nil {
		boot.DestinationType, boot.SizeGB, boot.VolumeType = "volume", c.BootVolume.SizeGB, c.BootVolume.Type
	}
	devices := []blockDevice{boot}
	for _, v := range c.DataVolumes {
		devices = append(devices, blockDevice{
			BootIndex: -1, SourceType: "blank", DestinationType: "volume", SizeGB: v.SizeGB, VolumeType: v.Type, DeleteOnTermination: true,
		})
	}
	return devices
}
