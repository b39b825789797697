// Package aws reads the resources of AWS that an Infrastructure has recorded in its status, by Trellis or by the upstream extension. It makes no calls, and
// knows neither the SDK nor the driver, with which it shares the API types and the format of the record.
package aws
