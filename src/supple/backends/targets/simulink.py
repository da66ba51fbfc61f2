"""Simulink: a level-2 C S-function around the generated C, a port for each input and output."""

from __future__ import annotations

from pathlib import Path

from supple.backends.package import Package
from supple.backends.targets import c
from supple.backends.targets.files import deliver
from supple.backends.targets.heading import check_package


def write(package: Package, folder: Path) -> list[Path]:
    """The paths of the header, the model and the S-function, written to `folder`."""
    check_package(package)
    shared = c.interface(package)
    return deliver(folder, {**c.library(package, shared), f"{shared.sign.name}_sfun.c": _sfun(package, shared)})


def _sfun(package: Package, shared: c.Interface) -> str:
    sign, sizes, names = shared.sign, shared.sizes(), shared.names()
    names.unique(sign.name)
    ins = {x: names.unique(f"IN_{x}") for x in sign.inputs.values() if sizes[x]}
    outs = {x: names.unique(f"OUT_{x}") for x in sign.outputs.values() if sizes[x]}
    mask = [f"  port_label('input', {k}, '{x}');" for k, x in enumerate(ins, 1)]
    mask += [f"  port_label('output', {k}, '{x}');" for k, x in enumerate(outs, 1)]
    use = [
        "", "in MATLAB:", f"  mex {sign.name}_sfun.c {sign.name}.c",
        "the names of the ports appear on the block with these icon drawing commands in its mask:", *mask,
    ]  # fmt: skip
    return "\n".join(
        [
            *c.title(package, shared, *use),
            f"#define S_FUNCTION_NAME {sign.name}_sfun", "#define S_FUNCTION_LEVEL 2",
            '#include "simstruc.h"', f'#include "{sign.name}.h"', "",
            f"enum {{ {', '.join([*ins.values(), 'INPUT_PORTS_'])} }};",
            f"enum {{ {', '.join([*outs.values(), 'OUTPUT_PORTS_'])} }};",
            _SIZES.format(
                inputs="\n".join(_INPUT.format(port=port, width=sizes[x]) for x, port in ins.items()),
                outputs="\n".join(_OUTPUT.format(port=port, width=sizes[x]) for x, port in outs.items()),
            ),
            *_outputs(shared, ins, outs), _END,
        ]
    )  # fmt: skip


def _outputs(shared: c.Interface, ins: dict[str, str], outs: dict[str, str]) -> list[str]:
    sign = shared.sign
    arguments = [
        f"(const real_T *)ssGetInputPortSignal(S, {ins[x]})" if x in ins else "nothing_" for x in sign.inputs.values()
    ]
    arguments += [f"ssGetOutputPortRealSignal(S, {outs[x]})" if x in outs else "nothing_" for x in sign.outputs.values()]
    return [
        "static void mdlOutputs(SimStruct *S, int_T tid)", "{",
        "    real_T nothing_[1] = {0.0}; /* for arrays without elements, which have no port */",
        "    (void)nothing_;", "    (void)tid;", f"    {sign.name}(",
        ",\n".join(f"        {x}" for x in arguments) + ");", "}",
    ]  # fmt: skip


_INPUT = """\
    ssSetInputPortWidth(S, {port}, {width});
    ssSetInputPortDataType(S, {port}, SS_DOUBLE);
    ssSetInputPortRequiredContiguous(S, {port}, 1);
    ssSetInputPortDirectFeedThrough(S, {port}, 1);"""

_OUTPUT = """\
    ssSetOutputPortWidth(S, {port}, {width});
    ssSetOutputPortDataType(S, {port}, SS_DOUBLE);"""

_SIZES = """
static void mdlInitializeSizes(SimStruct *S)
{{
    ssSetNumSFcnParams(S, 0);
    if (ssGetNumSFcnParams(S) != ssGetSFcnParamsCount(S))
        return;
    ssSetNumContStates(S, 0);
    ssSetNumDiscStates(S, 0);
    if (!ssSetNumInputPorts(S, INPUT_PORTS_) || !ssSetNumOutputPorts(S, OUTPUT_PORTS_))
        return;
{inputs}
{outputs}
    ssSetNumSampleTimes(S, 1);
    ssSetOptions(S, SS_OPTION_EXCEPTION_FREE_CODE);
}}

static void mdlInitializeSampleTimes(SimStruct *S)
{{
    ssSetSampleTime(S, 0, INHERITED_SAMPLE_TIME);
    ssSetOffsetTime(S, 0, 0.0);
    ssSetModelReferenceSampleTimeDefaultInheritance(S);
}}
"""

_END = """
static void mdlTerminate(SimStruct *S)
{
    (void)S;
}

#ifdef MATLAB_MEX_FILE
#include "simulink.c"
#else
#include "cg_sfun.h"
#endif
"""
