package outgoing

import (
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// Guard decides which addresses the server may connect to for others. It looks at the address that is about to be
// connected to, after all names have been resolved: however a name was spelled, and whatever it resolved to before, is
// of no matter. The zero value lets only public addresses pass.
type Guard struct {
	// Allow are networks of the operator's own that may be reached although they are not public.
	Allow []netip.Prefix
}

// A DeniedError is an address that must not be connected to.
type DeniedError struct {
	Address netip.Addr
	// Plain is set where the address may be reached, but not without encryption.
	Plain bool
}

func (e *DeniedError) Error() string {
	if e.Plain {
		return fmt.Sprintf("%s must not be reached by plain http: use https, or list its network in --outgoing-allow", e.Address)
	}
	return fmt.Sprintf("%s is not a public address: list its network in --outgoing-allow if it is yours", e.Address)
}

// Check gives a *DeniedError for an address that must not be connected to.
func (g Guard) Check(address netip.Addr) error {
	if g.own(address) || public(address) {
		return nil
	}
	return &DeniedError{Address: address}
}

// CheckPlain gives a *DeniedError for an address that must not be connected to without encryption: all but the
// operator's own.
func (g Guard) CheckPlain(address netip.Addr) error {
	if g.own(address) {
		return nil
	}
	return &DeniedError{Address: address, Plain: public(address)}
}

func (g Guard) own(address netip.Addr) bool {
	address = address.Unmap().WithZone("")
	for _, network := range g.Allow {
		if network.Contains(address) {
			return true
		}
	}
	return false
}

// dialer connects where check lets it.
func dialer(check func(netip.Addr) error) *net.Dialer {
	return &net.Dialer{
		Timeout:   connectTimeout,
		KeepAlive: 30 * time.Second,
		Control: func(_, address string, _ syscall.RawConn) error {
			target, err := netip.ParseAddrPort(address)
			if err != nil {
				return fmt.Errorf("connect to %q: %w", address, err)
			}
			return check(target.Addr())
		},
	}
}

// public tells whether an address is one of the internet's, by the registries of special-purpose addresses (RFC 6890
// with its updates) and what clouds keep for themselves among the others.
func public(address netip.Addr) bool {
	if address.Zone() != "" {
		return false
	}
	address = address.Unmap()
	if address.Is4() {
		return publicV4(address)
	}
	// An IPv6-only host reaches IPv4 by the translator's prefix (RFC 6052 §2.1): the address inside counts.
	if netip.MustParsePrefix("64:ff9b::/96").Contains(address) {
		bytes := address.As16()
		return publicV4(netip.AddrFrom4([4]byte(bytes[12:])))
	}
	return publicV6(address)
}

func publicV4(address netip.Addr) bool {
	bytes := address.As4()
	switch bytes[0] {
	case 0, 10, 127: // this network, private, loopback
		return false
	case 100: // shared by customers of a carrier (RFC 6598); some clouds' metadata
		return bytes[1]&0xc0 != 64
	case 168: // what Azure's machines ask for their certificates and settings
		return bytes != [4]byte{168, 63, 129, 16}
	case 169: // link-local: most clouds' metadata
		return bytes[1] != 254
	case 172:
		return bytes[1]&0xf0 != 16
	case 192:
		switch {
		case bytes[1] == 168, bytes[1] == 0 && bytes[2] == 0, bytes[1] == 0 && bytes[2] == 2, bytes[1] == 88 && bytes[2] == 99:
			return false // private, protocol assignments, documentation, the 6to4 relays
		}
	case 198: // benchmarks, documentation
		return bytes[1]&0xfe != 18 && (bytes[1] != 51 || bytes[2] != 100)
	case 203: // documentation
		return bytes[1] != 0 || bytes[2] != 113
	}
	return bytes[0] < 224 // multicast, reserved, broadcast
}

// publicV6 tells whether an address is global unicast. All others are loopback, mapped, translated, link-local, unique
// local, multicast, or nobody's.
func publicV6(address netip.Addr) bool {
	if !netip.MustParsePrefix("2000::/3").Contains(address) {
		return false
	}
	for _, reserved := range []string{
		"2001::/23",     // protocol assignments: Teredo, ORCHID, benchmarks
		"2001:db8::/32", // documentation
		"2002::/16",     // 6to4, which is given up (RFC 7526) and hides an IPv4 address
		"3fff::/20",     // documentation
	} {
		if netip.MustParsePrefix(reserved).Contains(address) {
			return false
		}
	}
	// ISATAP hides an IPv4 address too (RFC 5214 §6.1).
	bytes := address.As16()
	isatap := (bytes[8] == 0 || bytes[8] == 2) && bytes[9] == 0 && bytes[10] == 0x5e && bytes[11] == 0xfe
	return !isatap
}
