package typed

import (
	"fmt"
	"math/bits"

	"github.com/memring/memring/client"
)

// Defaults of [Config].
const (
	// DefaultCompressFromBytes: a shorter value goes over the network in one or two
	// packets in any case, and there is little that compression could save of it.
	DefaultCompressFromBytes = 2 << 10
	// DefaultMaxDecodedBytes is 16 times the longest value that a memcached takes
	// without its -I option.
	DefaultMaxDecodedBytes = 16 << 20
	// DefaultFlagMask are four bits that other clients leave alone, see the
	// package's documentation. The highest bit is not among them: to some clients
	// the flags are a signed number.
	DefaultFlagMask = 0x7800_0000
)

// Config tunes a cache. The zero value, and a nil *Config, are good defaults:
// nothing is compressed then.
type Config struct {
	// Compressor compresses the values that are stored, and reads them. If nil, they
	// are stored as the codec makes them.
	Compressor Compressor

	// Readers are compressors whose values are read as well, each with another ID.
	// One with the Compressor's ID stands back for that.
	Readers []Compressor

	// CompressFromBytes is from which length on an encoded value is compressed. If
	// zero, DefaultCompressFromBytes, 2 KiB; if negative, all are.
	CompressFromBytes int

	// MaxDecodedBytes is what a compressed value may have after decompression; what
	// would have more is a DecodeError, and not held in memory. Longer values are not
	// compressed when they are stored, since they could not be read again. If zero,
	// DefaultMaxDecodedBytes, 16 MiB; if negative, no bound but
	// [client.MaxValueLen]. Values that are not compressed are bounded by the server's
	// item size limit alone.
	MaxDecodedBytes int

	// FlagMask are the client flags that say which compressor has made the value,
	// adjacent bits; all zero, none has. All programs that share values must have the
	// same. If zero, DefaultFlagMask.
	FlagMask uint32

	// UndecodableIsMiss makes the calls that read treat values that cannot be decoded
	// as if they were not there: the [DecodeError] matches [client.ErrNotFound] too,
	// and a GetMulti passes them over. [Cache.Undecodable] counts them.
	UndecodableIsMiss bool
}

// packing is a Config with its defaults.
type packing struct {
	write   Compressor
	readers []Compressor // by ID
	from    int
	limit   int
	mask    uint32
	miss    bool
}

func (cfg *Config) packing() (packing, error) {
	if cfg == nil {
		cfg = &Config{}
	}
	p := packing{write: cfg.Compressor, from: cfg.CompressFromBytes, limit: cfg.MaxDecodedBytes, mask: cfg.FlagMask, miss: cfg.UndecodableIsMiss}
	if p.from == 0 {
		p.from = DefaultCompressFromBytes
	}
	switch {
	case p.limit == 0:
		p.limit = DefaultMaxDecodedBytes
	case p.limit < 0:
		p.limit = client.MaxValueLen
	}
	if p.mask == 0 {
		p.mask = DefaultFlagMask
	}
	if run := p.mask >> p.shift(); run&(run+1) != 0 {
		return p, fmt.Errorf("%w: the bits of FlagMask %#x are not adjacent", client.ErrConfig, p.mask)
	}
	for _, z := range cfg.Readers {
		if err := p.add(z); err != nil {
			return p, err
		}
	}
	if p.write == nil {
		return p, nil
	}
	if p.reader(uint32(p.write.ID())) != nil {
		p.readers[p.write.ID()] = nil
	}
	return p, p.add(p.write)
}

// add has a compressor's values read.
func (p *packing) add(z Compressor) error {
	if z == nil {
		return fmt.Errorf("%w: a reader is nil", client.ErrConfig)
	}
	id := uint32(z.ID())
	if most := p.mask >> p.shift(); id == 0 || id > most {
		return fmt.Errorf("%w: a compressor's ID is %d, and FlagMask has room for 1 to %d", client.ErrConfig, id, most)
	}
	if p.reader(id) != nil {
		return fmt.Errorf("%w: two readers have the ID %d", client.ErrConfig, id)
	}
	for int(id) >= len(p.readers) {
		p.readers = append(p.readers, nil)
	}
	p.readers[id] = z
	return nil
}

// reader returns the compressor of an ID, or nil.
func (p *packing) reader(id uint32) Compressor {
	if uint64(id) < uint64(len(p.readers)) {
		return p.readers[id]
	}
	return nil
}

func (p *packing) shift() int { return bits.TrailingZeros32(p.mask) }

// mark is what the flags have of a compressor's values.
func (p *packing) mark(z Compressor) uint32 { return uint32(z.ID()) << p.shift() }

// marked is the ID that the flags have.
func (p *packing) marked(flags uint32) uint32 { return flags & p.mask >> p.shift() }
