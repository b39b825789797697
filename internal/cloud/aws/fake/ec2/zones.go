package ec2

import (
	"slices"
	"strconv"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

type zone struct {
	meta

	name string
}

func (s *Service) zoneActions() map[string]core.Action {
	return map[string]core.Action{
		"DescribeAvailabilityZones": {Reads: "ZoneNames ZoneIds Filters AllAvailabilityZones", Do: s.describeZones},
	}
}

// zoneID is the name of a zone that is the same in all accounts.
func (s *Service) zoneID(name string) string {
	return s.core.Config.Region + "-az" + strconv.Itoa(slices.Index(s.core.Config.Zones, name)+1)
}

func (s *Service) describeZones(q *core.Request) (protocol.Struct, error) {
	region := s.core.Config.Region
	all := &collection[*zone]{
		ids: "ZoneNames", answer: "AvailabilityZones",
		notFound: func(id string) *wire.Error {
			return protocol.Fail("InvalidParameterValue", "Invalid availability zone: [%s]", id)
		},
		filters: map[string]func(*zone) []string{
			"zone-name":     one(func(z *zone) string { return z.name }),
			"zone-id":       one(func(z *zone) string { return s.zoneID(z.name) }),
			"zone-type":     one(func(*zone) string { return "availability-zone" }),
			"region-name":   one(func(*zone) string { return region }),
			"state":         one(func(*zone) string { return "available" }),
			"opt-in-status": one(func(*zone) string { return "opt-in-not-required" }),
		},
		view: func(z *zone) protocol.Struct {
			return protocol.Struct{
				"ZoneName": z.name, "ZoneId": s.zoneID(z.name), "ZoneType": "availability-zone", "State": "available", "RegionName": region, "GroupName": region,
				"NetworkBorderGroup": region, "OptInStatus": "opt-in-not-required",
			}
		},
	}
	wanted := q.In.Strings("ZoneIds")
	for i, name := range s.core.Config.Zones {
		if len(wanted) == 0 || slices.Contains(wanted, s.zoneID(name)) {
			all.add(&zone{meta: meta{id: name, sequence: i + 1}, name: name})
		}
	}
	return describe(s, all, q)
}
