package efs

import (
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
)

const (
	ipv6Only = "IPV6_ONLY"
	// maxGroups is the number of security groups of a mount target.
	maxGroups = 5
)

type mountTarget struct {
	visibility

	id, systemID, subnetID, vpcID, zone, interfaceID, state string
}

// targetsOf returns the mount targets of a file system.
func (s *Service) targetsOf(systemID string) []*mountTarget {
	var out []*mountTarget
	for _, t := range s.targets {
		if t.systemID == systemID {
			out = append(out, t)
		}
	}
	return out
}

func (s *Service) target(id string) (*mountTarget, error) {
	for _, t := range s.targets {
		if t.id == id {
			return t, nil
		}
	}
	return nil, targetNotFound(id)
}

func targetNotFound(id string) error {
	return protocol.Fail("MountTargetNotFound", "Mount target '%s' does not exist.", id)
}

func (s *Service) viewTarget(t *mountTarget) protocol.Struct {
	address, _ := s.network.Interface(t.interfaceID)
	return protocol.Struct{
		"MountTargetId": t.id, "FileSystemId": t.systemID, "SubnetId": t.subnetID, "VpcId": t.vpcID, "AvailabilityZoneName": t.zone, "LifeCycleState": t.state,
		"NetworkInterfaceId": t.interfaceID, "OwnerId": s.core.Config.AccountID, "IpAddress": protocol.OrNil(address),
	}
}

func (s *Service) createTarget(q *core.Request) (protocol.Struct, error) {
	f, err := s.system(q.In.String("FileSystemId"))
	if err != nil {
		return nil, err
	}
	if f.state != stateAvailable {
		return nil, protocol.Fail("IncorrectFileSystemLifeCycleState", "File system '%s' is in state '%s'", f.id, f.state)
	}
	subnetID := q.In.String("SubnetId")
	vpcID, zone, err := s.network.VPCOf(subnetID)
	if err != nil {
		return nil, protocol.Fail("SubnetNotFound", "The subnet ID '%s' does not exist", subnetID)
	}
	for _, other := range s.targetsOf(f.id) {
		switch {
		case other.vpcID != vpcID:
			return nil, protocol.Fail("MountTargetConflict", "Requested subnet for new mount target is not in the same VPC as existing mount targets")
		case other.zone == zone:
			return nil, protocol.Fail("MountTargetConflict", "mount target already exists in this AZ")
		}
	}
	t := &mountTarget{visibility: s.newVisibility(), id: s.core.NewID("fsmt"), systemID: f.id, subnetID: subnetID, vpcID: vpcID, zone: zone, state: stateCreating}
	if err := s.addInterface(t, q); err != nil {
		return nil, err
	}
	s.targets = append(s.targets, t)
	s.core.BeginTransition(core.MountTargetCreate, t.id, func(result core.Transition) { t.state = finalState(result) })
	return s.viewTarget(t), nil
}

// addInterface gives a new mount target its interface. Without security groups it has the default one of the VPC.
func (s *Service) addInterface(t *mountTarget, q *core.Request) error {
	groups, err := groupsIn(q)
	if err != nil {
		return err
	}
	id, err := s.network.AddInterface(t.subnetID, "efs", "Mount target "+t.id+" for file system "+t.systemID, groups...)
	if err != nil {
		return protocol.Fail("SecurityGroupNotFound", "%v", err)
	}
	if address, _ := s.network.Interface(id); address == "" && q.In.String("IpAddressType") != ipv6Only {
		s.network.RemoveInterface(id)
		return protocol.Fail("NoFreeAddressesInSubnet", "Subnet '%s' has no free addresses", t.subnetID)
	}
	t.interfaceID = id
	return nil
}

func groupsIn(q *core.Request) ([]string, error) {
	groups := q.In.Strings("SecurityGroups")
	if len(groups) > maxGroups {
		return nil, protocol.Fail("SecurityGroupLimitExceeded", "The maximum number of security groups per interface has been reached.")
	}
	return groups, nil
}

// describeTargets answers for one file system or one mount target.
func (s *Service) describeTargets(q *core.Request) (protocol.Struct, error) {
	systemID, id := q.In.String("FileSystemId"), q.In.String("MountTargetId")
	if (systemID == "") == (id == "") {
		return nil, badRequest("Exactly one of FileSystemId and MountTargetId must be given")
	}
	found := []*mountTarget{}
	if systemID != "" {
		f, err := s.system(systemID)
		if err != nil {
			return nil, err
		}
		found = append(found, s.targetsOf(f.id)...)
	} else {
		t, err := s.target(id)
		if err != nil {
			return nil, err
		}
		found = append(found, t)
	}
	found = slices.DeleteFunc(found, func(t *mountTarget) bool { return t.isMissing(q) })
	if id != "" && len(found) == 0 {
		return nil, targetNotFound(id)
	}
	shown, next := page(q, found, "Marker", "MaxItems")
	views := []any{}
	for _, t := range shown {
		s.core.CountRead(t.id)
		views = append(views, s.viewTarget(t))
	}
	return protocol.Struct{"MountTargets": views, "Marker": marker(q), "NextMarker": next}, nil
}

// deleteTarget deletes a mount target. Its interface goes with it.
func (s *Service) deleteTarget(q *core.Request) (protocol.Struct, error) {
	t, err := s.target(q.In.String("MountTargetId"))
	if err != nil || t.state == stateDeleting {
		return nil, err
	}
	s.core.CancelTransition(t.id)
	t.state = stateDeleting
	s.core.BeginTransition(core.MountTargetDelete, t.id, func(core.Transition) {
		s.network.RemoveInterface(t.interfaceID)
		s.targets = slices.DeleteFunc(s.targets, func(other *mountTarget) bool { return other == t })
	})
	return nil, nil
}

func (s *Service) describeGroups(q *core.Request) (protocol.Struct, error) {
	t, err := s.changeableTarget(q)
	if err != nil {
		return nil, err
	}
	_, groups := s.network.Interface(t.interfaceID)
	return protocol.Struct{"SecurityGroups": protocol.ListOf(groups)}, nil
}

func (s *Service) modifyGroups(q *core.Request) (protocol.Struct, error) {
	t, err := s.changeableTarget(q)
	if err != nil {
		return nil, err
	}
	groups, err := groupsIn(q)
	if err != nil {
		return nil, err
	}
	if err := s.network.SetInterfaceGroups(t.interfaceID, groups); err != nil {
		return nil, protocol.Fail("SecurityGroupNotFound", "%v", err)
	}
	return nil, nil
}

// changeableTarget returns the mount target of a request unless it is being deleted.
func (s *Service) changeableTarget(q *core.Request) (*mountTarget, error) {
	t, err := s.target(q.In.String("MountTargetId"))
	if err != nil {
		return nil, err
	}
	if t.state == stateDeleting {
		return nil, protocol.Fail("IncorrectMountTargetState", "Mount target '%s' is in state '%s'", t.id, t.state)
	}
	return t, nil
}
