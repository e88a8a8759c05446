"""Machine code from text in the language of the compiler's back end."""

from typing import Any

import llvmlite.binding as llvm


def compiled(text: str) -> Any:
    """Compiled code of text in the compiler's own language."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(text)
    module.verify()
    machine = llvm.Target.from_default_triple().create_target_machine(opt=0)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return engine
