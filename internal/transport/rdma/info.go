package rdma

import "slices"

// A Provider is a way through libfabric that this transport could use here.
type Provider struct {
	Name     string // as Config.Provider wants it
	Device   string
	Hardware bool // the device moves bytes by itself
}

// Providers are those that there are here, in the order of libfabric's preference. It
// fails, with an error that wraps base.ErrNotSupported, where there is no libfabric. Each
// device of a provider is there once, whatever number of addresses it has.
func Providers() ([]Provider, error) {
	all, err := list("")
	var distinct []Provider
	for _, p := range all {
		if !slices.Contains(distinct, p) {
			distinct = append(distinct, p)
		}
	}
	return distinct, err
}
