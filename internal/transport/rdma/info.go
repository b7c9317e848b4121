package rdma

// A Provider is a way through libfabric that this transport could use here.
type Provider struct {
	Name     string // as Config.Provider wants it
	Device   string
	Fabric   string // what the device is connected to, as far as that is known
	Hardware bool   // the device moves bytes by itself
}

// Providers are those that there are here, in the order of libfabric's preference. It
// fails, with an error that wraps base.ErrNotSupported, where there is no libfabric.
func Providers() ([]Provider, error) { return list("") }
