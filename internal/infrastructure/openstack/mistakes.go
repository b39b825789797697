package openstack

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

// refusedValue is a value of the user's that only the cloud can judge, by its field and what to do about it.
type refusedValue struct {
	field, remedy string
}

// orConfiguration calls a refused request the user's mistake if it consists of a value that the user chose: 400 says that
// the value does not do, 404 that what it names is not there. Every other error stays what it is.
func (v refusedValue) orConfiguration(err error) error {
	answer, refused := errors.AsType[*cloudopenstack.ResponseError](err)
	if v.field == "" || !refused || (answer.Status != http.StatusBadRequest && answer.Status != http.StatusNotFound) {
		return err
	}
	switch cloud.KindOf(err) {
	case cloud.Unknown, cloud.NotFound, cloud.Configuration:
		return &cloud.Error{Kind: cloud.Configuration, Message: v.field + ": " + v.remedy, Err: err}
	default:
		return err
	}
}

func isStatus(err error, status int) bool {
	answer, refused := errors.AsType[*cloudopenstack.ResponseError](err)
	return refused && answer.Status == status
}

// blameNetwork looks for the user's part in the refusal of a network. The zones are the only thing in it that can be missing.
func blameNetwork(mtu int, azHints []string, err error) error {
	switch {
	case isStatus(err, http.StatusNotFound):
		return blameZones("network", azHints, err)
	case mtu != 0:
		return refusedValue{"networks.mtu", "the cloud does not take this MTU; give one that it supports, or leave the field out"}.orConfiguration(err)
	default:
		return blameZones("network", azHints, err)
	}
}

// blameZones looks for the user's part in the refusal of a network or router that is hinted into availability zones.
func blameZones(what string, hints []string, err error) error {
	if len(hints) == 0 {
		return err
	}
	return refusedValue{"networks.availabilityZoneHints." + what, "the cloud does not take these zones; give some that it has"}.orConfiguration(err)
}

// blameSubnet looks for the user's part in the refusal of a subnet: its range, or the pool that is to give it. That the
// network is gone is nobody's mistake.
func blameSubnet(wanted subnetWant, err error) error {
	answer, refused := errors.AsType[*cloudopenstack.ResponseError](err)
	switch {
	case !refused || answer.Type == "NetworkNotFound":
		return err
	case wanted.poolID != "":
		return refusedValue{wanted.poolField, "the cloud has no such subnet pool or cannot take the subnet out of it; give another pool or prefix length"}.orConfiguration(err)
	case answer.Status == http.StatusBadRequest && wanted.cidr != "":
		return refusedValue{wanted.cidrField, "the cloud does not take the range " + wanted.cidr + "; give another one"}.orConfiguration(err)
	default:
		return err
	}
}

// blameGateway says what a router's gateway asks for that the policy of a stock cloud reserves to its operator.
func blameGateway(gateway cloudopenstack.ExternalGateway, subnetField string, err error) error {
	if cloud.KindOf(err) != cloud.Unauthorized {
		return err
	}
	const way = "the cloud's policy does not let this project choose %s; leave the field out, or ask the cloud's operator for the right to %s"
	var wishes []string
	if len(gateway.FixedIPs) > 0 {
		wishes = append(wishes, subnetField+": "+fmt.Sprintf(way, "the subnet of a gateway", "external_gateway_info:external_fixed_ips"))
	}
	if gateway.EnableSNAT != nil {
		wishes = append(wishes, "useSNAT of the cloud profile: "+fmt.Sprintf(way, "whether a gateway translates addresses", "external_gateway_info:enable_snat"))
	}
	if len(wishes) == 0 {
		return err
	}
	return &cloud.Error{Kind: cloud.Unauthorized, Message: strings.Join(wishes, "; "), Err: err}
}
