package openstack

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

// refusedValue is a user's value that only the cloud can validate, with its field and the remedy.
type refusedValue struct {
	field, remedy string
}

// asConfigurationError classifies a rejected request as a user's error if it contains a user's value: 400 means an invalid value, 404 that what it refers
// to does not exist. Other errors are returned unchanged.
func (v refusedValue) asConfigurationError(err error) error {
	response, refused := errors.AsType[*cloudopenstack.ResponseError](err)
	if v.field == "" || !refused || (response.Status != http.StatusBadRequest && response.Status != http.StatusNotFound) {
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
	response, refused := errors.AsType[*cloudopenstack.ResponseError](err)
	return refused && response.Status == status
}

// explainNetworkError handles the refusal of a network, of which only the availability zones can be missing.
func explainNetworkError(mtu int, azHints []string, err error) error {
	switch {
	case isStatus(err, http.StatusNotFound):
		return explainZoneError("network", azHints, err)
	case mtu != 0:
		return refusedValue{"networks.mtu", "the cloud does not take this MTU; give one that it supports, or leave the field out"}.asConfigurationError(err)
	default:
		return explainZoneError("network", azHints, err)
	}
}

// explainZoneError handles the refusal of a network or router with availability zone hints.
func explainZoneError(what string, hints []string, err error) error {
	if len(hints) == 0 {
		return err
	}
	return refusedValue{"networks.availabilityZoneHints." + what, "the cloud does not take these zones; give some that it has"}.asConfigurationError(err)
}

// explainSubnetError handles the refusal of a subnet: its range, or the subnet pool. A missing network is no user's error.
func explainSubnetError(wanted subnetSpec, err error) error {
	response, refused := errors.AsType[*cloudopenstack.ResponseError](err)
	switch {
	case !refused || response.Type == "NetworkNotFound":
		return err
	case wanted.poolID != "":
		return refusedValue{wanted.poolField, "the cloud has no such subnet pool or cannot take the subnet out of it; give another pool or prefix length"}.asConfigurationError(err)
	case response.Status == http.StatusBadRequest && wanted.cidr != "":
		return refusedValue{wanted.cidrField, "the cloud does not take the range " + wanted.cidr + "; give another one"}.asConfigurationError(err)
	default:
		return err
	}
}

// explainGatewayError names the part of a router's gateway that the default policy permits to operators only.
func explainGatewayError(gateway cloudopenstack.ExternalGateway, subnetField string, err error) error {
	if cloud.KindOf(err) != cloud.Unauthorized {
		return err
	}
	const way = "the cloud's policy does not let this project choose %s; leave the field out, or ask the cloud's operator for the right to %s"
	var problems []string
	if len(gateway.FixedIPs) > 0 {
		problems = append(problems, subnetField+": "+fmt.Sprintf(way, "the subnet of a gateway", "external_gateway_info:external_fixed_ips"))
	}
	if gateway.EnableSNAT != nil {
		problems = append(problems, "useSNAT of the cloud profile: "+fmt.Sprintf(way, "whether a gateway translates addresses", "external_gateway_info:enable_snat"))
	}
	if len(problems) == 0 {
		return err
	}
	return &cloud.Error{Kind: cloud.Unauthorized, Message: strings.Join(problems, "; "), Err: err}
}
